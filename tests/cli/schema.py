# SPDX-License-Identifier: MIT
"""A small checker of JSON Schema: the words that docs/explain.schema.json uses, and no others."""
import re

WORDS = {"$schema", "$id", "$defs", "$ref", "title", "description", "type", "const", "enum", "oneOf", "properties", "required",
         "additionalProperties", "items", "minItems", "maxItems", "minimum", "maximum", "pattern"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def is_type(value, name):
    if name in ("integer", "number"):
        return isinstance(value, int if name == "integer" else (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def faults(value, schema, root=None, at="$"):
    """What is wrong with a value, one text for each fault."""
    root = root or schema
    if set(schema) - WORDS:
        raise ValueError(f"unknown words in the schema: {set(schema) - WORDS}")
    if "$ref" in schema:
        return faults(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root, at)
    out = []
    names = schema.get("type", [])
    names = [names] if isinstance(names, str) else names
    if names and not any(is_type(value, name) for name in names):
        return [f"{at}: {value!r} is no {names}"]
    if "const" in schema and value != schema["const"] or "enum" in schema and value not in schema["enum"]:
        out.append(f"{at}: {value!r} is not allowed")
    if "oneOf" in schema:
        n = [faults(value, s, root, at) for s in schema["oneOf"]]
        if sum(not f for f in n) != 1:
            out.append(f"{at}: {sum(not f for f in n)} of oneOf fit; {min((f for f in n if f), key=len, default='')}")
    if isinstance(value, dict):
        known = schema.get("properties", {})
        out += [f"{at}: no {key}" for key in schema.get("required", ()) if key not in value]
        if schema.get("additionalProperties") is False:
            out += [f"{at}: {key} is unknown" for key in value if key not in known]
        for key in known.keys() & value.keys():
            out += faults(value[key], known[key], root, f"{at}.{key}")
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            out.append(f"{at}: {len(value)} items")
        for i, item in enumerate(value if "items" in schema else ()):
            out += faults(item, schema["items"], root, f"{at}[{i}]")
    if is_type(value, "number") and not schema.get("minimum", value) <= value <= schema.get("maximum", value):
        out.append(f"{at}: {value} is out of its range")
    if isinstance(value, str) and "pattern" in schema and not re.search(schema["pattern"], value):
        out.append(f"{at}: {value!r} has another form")
    return out
