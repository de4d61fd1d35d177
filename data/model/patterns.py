"""Patterns of sentences and questions. {e} and other letters are slots, [..] marks words of the relation."""

NOT_STATED = {"en": "not stated", "zh": "没有提到"}

# name: kind of value; names of the attribute; patterns of its own; questions of its own
RELATIONS = {
    "en": {
        "code": ("code", ["code", "access code"], ["Use {v} as the [code] for {e}."], []),
        "password": ("secret", ["password"], ["Log in to {e} with the [password] {v}."], []),
        "number": ("num", ["number"], [], []),
        "age": ("small", ["age"], ["{e} is {v} [years old]."], ["How [old] is {e}?"]),
        "price": (
            "money",
            ["price"],
            ["{e} [costs] {v}.", "They [sell] {e} for {v}."],
            ["How much does {e} [cost]?", "What does {e} [cost]?"],
        ),
        "weight": (
            "weight",
            ["weight"],
            ["{e} [weighs] {v}."],
            ["How much does {e} [weigh]?", "How [heavy] is {e}?"],
        ),
        "height": ("num", ["height"], ["{e} is {v} cm [tall]."], ["How [tall] is {e}?"]),
        "birthday": (
            "date",
            ["birthday", "date of birth"],
            ["{e} was [born] on {v}."],
            ["When was {e} [born]?"],
        ),
        "start": ("date", ["start date"], ["{e} [started] on {v}."], ["When did {e} [start]?"]),
        "colour": (
            "colour",
            ["colour", "color"],
            ["{e} is [painted] {v}."],
            ["What [colour] is {e}?", "Which [colour] does {e} have?"],
        ),
        "owner": (
            "name",
            ["owner"],
            ["{e} [belongs] to {v}.", "{e} is [owned] by {v}."],
            ["Who [owns] {e}?", "Who does {e} [belong] to?"],
        ),
        "friend": ("name", ["friend", "best friend"], [], ["Who is the [friend] of {e}?"]),
        "teacher": (
            "name",
            ["teacher"],
            ["{e} was [taught] by {v}."],
            ["Who [teaches] {e}?", "Who is {e}'s [teacher]?"],
        ),
        "boss": ("name", ["manager", "boss"], ["{e} [reports] to {v}."], ["Who is the [manager] of {e}?"]),
        "spouse": ("name", ["wife", "husband"], ["{e} is [married] to {v}."], ["Who is {e} [married] to?"]),
        "home": (
            "city",
            ["home town", "city"],
            ["{e} [lives] in {v}."],
            ["Where does {e} [live]?", "In which [city] does {e} [live]?"],
        ),
        "found": ("city", [], ["{e} was [found] in {v}."], ["Where was {e} [found]?"]),
        "room": ("small", ["room"], ["{e} is in [room] {v}."], ["In which [room] is {e}?"]),
        "job": (
            "job",
            ["job", "profession"],
            ["{e} [works] as a {v}.", "{e} is a {v} by [profession]."],
            ["What does {e} [work] as?", "What does {e} [do] for a living?"],
        ),
        "arrival": (
            "time",
            ["arrival time"],
            ["{e} [arrives] at {v}."],
            ["When does {e} [arrive]?", "At what time does {e} [arrive]?"],
        ),
        "departure": ("time", ["departure time"], ["{e} [leaves] at {v}."], ["When does {e} [leave]?"]),
        "phone": (
            "long",
            ["phone number", "phone"],
            ["Call {e} on the [phone number] {v}."],
            ["What is the [phone number] of {e}?"],
        ),
        "animal": ("animal", ["favourite animal"], [], []),
        "pet": ("animal", ["pet"], ["{e} has a [pet] {v}."], ["Which [pet] does {e} have?"]),
        "food": ("food", ["favourite food"], ["{e} likes to [eat] {v}."], ["What does {e} like to [eat]?"]),
        "sport": ("sport", ["sport"], ["{e} [plays] {v} every week."], ["What does {e} [play]?"]),
        "language": ("language", ["language"], ["{e} [speaks] {v}."], ["Which [language] does {e} [speak]?"]),
        "book": ("word", ["favourite book"], [], []),
        "score": ("small", ["score"], ["{e} [scored] {v} points."], ["How many [points] does {e} have?"]),
        "location": (
            "place",
            ["location"],
            ["{e} [is] in {v}.", "{e} [stands] in {v}.", "You will [find] {e} in {v}."],
            ["Where [is] {e}?", "Where can I [find] {e}?"],
        ),
        "serial": ("code", ["serial number"], [], []),
        "size": ("small", ["size"], [], ["How [large] is {e}?"]),
        "secret": ("word", ["secret word"], [], []),
        "when": (
            "moment",
            ["date"],
            ["{e} [is] on {v}.", "{e} [takes place] on {v}.", "{e} [happens] on {v}."],
            ["When [is] {e}?", "When does {e} [take place]?"],
        ),
        "status": ("state", ["status", "state"], ["{e} is [now] {v}."], ["What is the [state] of {e}?"]),
        "maker": (
            "name",
            ["author", "maker"],
            ["{e} was [made] by {v}.", "{e} was [written] by {v}."],
            ["Who [made] {e}?", "Who [wrote] {e}?"],
        ),
        "material": ("material", ["material"], ["{e} is [made of] {v}."], ["What is {e} [made of]?"]),
        "email": ("email", ["email", "email address"], [], []),
        "version": ("version", ["version"], ["{e} runs [version] {v}."], ["Which [version] does {e} run?"]),
    },
    "zh": {
        "code": ("code", ["编号", "代码"], [], []),
        "password": ("secret", ["密码"], ["登录{e}要用[密码]{v}。"], []),
        "number": ("num", ["号码"], [], []),
        "age": ("small", ["年龄"], ["{e}今年{v}[岁]。"], ["{e}多少[岁]？", "{e}今年几[岁]？"]),
        "price": (
            "money",
            ["价格"],
            ["{e}[卖]{v}。", "买{e}要[花]{v}。"],
            ["{e}[多少钱]？", "{e}卖[多少钱]？"],
        ),
        "weight": ("weight", ["重量"], ["{e}[重]{v}。"], ["{e}有多[重]？"]),
        "height": ("num", ["高度", "身高"], ["{e}[高]{v}厘米。"], ["{e}有多[高]？"]),
        "birthday": (
            "date",
            ["生日"],
            ["{e}[出生]于{v}。", "{e}是{v}[出生]的。"],
            ["{e}什么时候[出生]？", "{e}的[生日]是哪天？"],
        ),
        "start": ("date", ["开始日期"], ["{e}从{v}[开始]。"], ["{e}什么时候[开始]？"]),
        "colour": ("colour", ["颜色"], ["{e}被漆成了{v}。"], ["{e}是什么[颜色]？", "{e}是什么[颜色]的？"]),
        "owner": (
            "name",
            ["主人"],
            ["{e}[属于]{v}。", "{e}是{v}的[东西]。"],
            ["{e}[属于]谁？", "谁是{e}的[主人]？", "{e}是谁的？"],
        ),
        "friend": ("name", ["朋友"], [], ["谁是{e}的[朋友]？"]),
        "teacher": ("name", ["老师"], ["[教]{e}的是{v}。"], ["谁是{e}的[老师]？"]),
        "boss": ("name", ["经理", "上司"], ["{e}由{v}[管理]。"], ["谁[管理]{e}？"]),
        "spouse": ("name", ["妻子", "丈夫"], ["{e}和{v}[结婚]了。"], ["{e}和谁[结婚]了？"]),
        "home": (
            "city",
            ["家乡", "城市"],
            ["{e}[住]在{v}。"],
            ["{e}[住]在哪里？", "{e}[住]在哪儿？", "{e}[住]哪个城市？"],
        ),
        "found": ("city", [], ["{e}在{v}被[发现]。"], ["{e}在哪里被[发现]？"]),
        "room": ("small", ["房间"], ["{e}在{v}号[房间]。"], ["{e}在几号[房间]？"]),
        "job": (
            "job",
            ["工作", "职业"],
            ["{e}[当]了{v}。", "{e}是一名{v}。"],
            ["{e}是做什么[工作]的？", "{e}的[职业]是什么？"],
        ),
        "arrival": ("time", ["到达时间"], ["{e}{v}[到达]。"], ["{e}几点[到达]？", "{e}什么时候[到达]？"]),
        "departure": ("time", ["出发时间"], ["{e}{v}[出发]。"], ["{e}几点[出发]？"]),
        "phone": ("long", ["电话"], ["打{v}可以找到{e}。"], ["{e}的[电话]是多少？"]),
        "animal": ("animal", ["最喜欢的动物"], [], []),
        "pet": ("animal", ["宠物"], ["{e}[养]了一只{v}。"], ["{e}[养]了什么？"]),
        "food": ("food", ["最喜欢的食物"], ["{e}喜欢[吃]{v}。"], ["{e}喜欢[吃]什么？"]),
        "sport": ("sport", ["运动"], ["{e}喜欢[玩]{v}。"], ["{e}喜欢什么[运动]？"]),
        "language": ("language", ["语言"], ["{e}会[说]{v}。"], ["{e}会[说]什么语言？"]),
        "book": ("word", ["最喜欢的书"], [], []),
        "score": ("small", ["分数"], ["{e}[得]了{v}[分]。"], ["{e}[得]了多少[分]？"]),
        "location": (
            "place",
            ["位置"],
            ["{e}[放在]{v}。", "{e}[在]{v}。"],
            ["{e}[在]哪里？", "{e}[放在]哪里？", "{e}[在]哪儿？"],
        ),
        "serial": ("code", ["序列号"], [], []),
        "size": ("small", ["尺寸"], [], ["{e}有多[大]？"]),
        "secret": ("word", ["暗号"], [], []),
        "when": (
            "moment",
            ["日期"],
            ["{e}在{v}[举行]。", "{e}定在{v}。"],
            ["{e}什么时候[举行]？", "{e}是什么时候？"],
        ),
        "status": ("state", ["状态"], ["{e}[现在]{v}。"], ["{e}[现在]怎么样？"]),
        "maker": (
            "name",
            ["作者"],
            ["{e}是{v}[做]的。", "{e}由{v}[写]成。"],
            ["{e}是谁[做]的？", "谁是{e}的[作者]？"],
        ),
        "material": ("material", ["材料"], ["{e}是用{v}[做]的。"], ["{e}是用什么[做]的？"]),
        "email": ("email", ["邮箱"], [], []),
        "version": ("version", ["版本"], [], []),
    },
}
# e can be a: thing, person, event (those not named: things and persons)
SUBJECTS = {
    "when": "event",
    "start": "event",
    "arrival": "mover",
    "departure": "mover",
    "status": "thing",
    "location": "thing",
    "maker": "thing",
    "material": "thing",
    "version": "thing",
    "colour": "thing",
    "price": "thing",
    "serial": "thing",
    "owner": "thing",
    "weight": "thing",
    "found": "thing",
    "age": "person",
    "birthday": "person",
    "friend": "person",
    "teacher": "person",
    "spouse": "person",
    "home": "person",
    "job": "person",
    "phone": "person",
    "pet": "person",
    "food": "person",
    "sport": "person",
    "language": "person",
    "animal": "person",
    "book": "person",
    "boss": "person",
    "email": "person",
    "score": "person",
    "size": "thing",
}
FACTS = {
    "en": ["The {a} of {e} is {v}."] * 3
    + ["{e}'s {a} is {v}."] * 3
    + [
        "{e} has the {a} {v}.",
        "According to the record, the {a} of {e} was {v}.",
        "For {e}, the {a} is {v}.",
        "The {a} recorded for {e} is {v}.",
        "As for {e}, its {a} was {v}.",
        "{e}: {a} {v}.",
        "{e}, {a}: {v}",
        "{e} - {a}: {v}",
        "We know that the {a} of {e} is {v} and it will not change.",
        "| {e} | {a} | {v} |",
        "{a} of {e}: {v}",
        "{e}'s {a}: {v}",
    ],
    "zh": ["{e}的{a}是{v}。"] * 3
    + [
        "{e}的{a}为{v}。",
        "根据记录，{e}的{a}是{v}。",
        "关于{e}，它的{a}是{v}。",
        "我们知道{e}的{a}是{v}。",
        "对于{e}来说，{a}是{v}。",
        "{e}的{a}是{v}，不会再改变。",
        "{e}：{a}{v}。",
        "{e}的{a}：{v}",
        "| {e} | {a} | {v} |",
        "{e}，{a}：{v}",
    ],
}
QUESTIONS = {
    "en": ["What is the {a} of {e}?"] * 3
    + ["What is {e}'s {a}?"] * 3
    + [
        "Tell me the {a} of {e}.",
        "For {e}, what is the {a}?",
        "Which {a} does {e} have?",
        "{a} of {e}?",
        "What {a} does {e} have?",
        "What's the {a} of {e}?",
        "what is the {a} of {e}",
        "Please tell me {e}'s {a}.",
    ],
    "zh": ["{e}的{a}是什么？"] * 3
    + [
        "请问{e}的{a}是多少？",
        "{e}的{a}是多少？",
        "告诉我{e}的{a}。",
        "对于{e}，{a}是什么？",
        "{e}有什么{a}？",
        "{e}的{a}？",
    ],
}
# a key and its value alone, and questions that fit some kinds of values only
KEY_QUESTIONS = {
    "en": dict(
        name=["Who is the {k}?", "Who is our {k}?"], moment=["When is the {k}?"], city=["Where is the {k}?"]
    ),
    "zh": dict(name=["谁是{k}？", "{k}是谁？"], moment=["{k}是什么时候？"], city=["{k}在哪里？"]),
}
KEYS = {
    "en": (
        ["{k}: {v}"] * 3 + ["The {k} is {v}.", "{k} = {v}", "Our {k} is {v}.", "- {k}: {v}", "| {k} | {v} |"],
        ["What is the {k}?", "What is our {k}?", "Tell me the {k}.", "{k}?"],
    ),
    "zh": (
        ["{k}：{v}", "{k}是{v}。", "{k}：{v}。", "| {k} | {v} |"],
        ["{k}是什么？", "{k}是多少？", "请告诉我{k}。"],
    ),
}
TICKETS = {
    "en": (
        ["{k}: {v}", "{k} - {v}", "{k} says that {v}.", "{k} is about this: {v}."],
        ["What is {k} about?", "What is wrong in {k}?", "What does {k} say?", "What is the problem in {k}?"],
    ),
    "zh": (
        ["{k}：{v}", "{k}：{v}。", "{k}说{v}。"],
        ["{k}是关于什么的？", "{k}说了什么？", "{k}的问题是什么？"],
    ),
}
# Facts of several slots: kinds of the slots, patterns, (question, the slot it asks for)
EVENTS = {
    "en": [
        (
            dict(s="person", o="object", p="box"),
            ["{s} [keeps] {o} in {p}.", "{s} has [put] {o} in {p}."],
            [
                ("Where does {s} [keep] {o}?", "p"),
                ("Where is {o} of {s} [kept]?", "p"),
                ("What does {s} [keep] in {p}?", "o"),
                ("Who [keeps] {o} in {p}?", "s"),
            ],
        ),
        (
            dict(s="person", o="object", p="person"),
            ["{s} [gave] {o} to {p}.", "{s} has [given] {o} to {p}."],
            [
                ("Who did {s} [give] {o} to?", "p"),
                ("What did {s} [give] to {p}?", "o"),
                ("Who [gave] {o} to {p}?", "s"),
            ],
        ),
        (
            dict(s="person", o="object", m="money"),
            ["{s} [bought] {o} for {m}.", "{s} [paid] {m} for {o}."],
            [
                ("How much did {s} [pay] for {o}?", "m"),
                ("What did {s} [buy] for {m}?", "o"),
                ("Who [bought] {o} for {m}?", "s"),
            ],
        ),
        (
            dict(s="person", p="person", c="city"),
            ["{s} [met] {p} in {c}.", "In {c}, {s} [met] {p}."],
            [
                ("Where did {s} [meet] {p}?", "c"),
                ("Who did {s} [meet] in {c}?", "p"),
                ("Who [met] {p} in {c}?", "s"),
            ],
        ),
        (
            dict(s="person", c="city", t="day"),
            ["{s} [travels] to {c} on {t}.", "{s} will [go] to {c} on {t}.", "On {t}, {s} [goes] to {c}."],
            [
                ("When does {s} [go] to {c}?", "t"),
                ("Where does {s} [go] on {t}?", "c"),
                ("Who [goes] to {c} on {t}?", "s"),
            ],
        ),
        (
            dict(s="person", o="object", p="person"),
            ["{s} [borrowed] {o} from {p}.", "{p} [lent] {o} to {s}."],
            [
                ("Who [borrowed] {o} from {p}?", "s"),
                ("Who did {s} [borrow] {o} from?", "p"),
                ("What did {s} [borrow] from {p}?", "o"),
            ],
        ),
        (
            dict(e="event", t="moment", p="place"),
            ["{e} is on {t} in {p}.", "{e} takes place in {p} on {t}."],
            [("[When] is {e}?", "t"), ("[Where] is {e}?", "p"), ("[Where] does {e} take place?", "p")],
        ),
    ],
    "zh": [
        (
            dict(s="person", o="object", p="box"),
            ["{s}把{o}[放]在{p}里。", "{s}的{o}[放]在{p}里。"],
            [
                ("{s}把{o}[放]在哪里？", "p"),
                ("{s}的{o}[放]在哪儿？", "p"),
                ("{s}把什么[放]在{p}里？", "o"),
                ("谁把{o}[放]在{p}里？", "s"),
            ],
        ),
        (
            dict(s="person", o="object", p="person"),
            ["{s}把{o}[送给]了{p}。", "{s}[送给]{p}{o}。"],
            [("{s}把{o}[送给]了谁？", "p"), ("{s}[送给]{p}什么？", "o"), ("谁把{o}[送给]了{p}？", "s")],
        ),
        (
            dict(s="person", o="object", m="money"),
            ["{s}花{m}[买]了{o}。", "{s}[买]{o}花了{m}。"],
            [("{s}[买]{o}花了多少钱？", "m"), ("{s}花{m}[买]了什么？", "o"), ("谁花{m}[买]了{o}？", "s")],
        ),
        (
            dict(s="person", p="person", c="city"),
            ["{s}在{c}[见]到了{p}。"],
            [("{s}在哪里[见]到了{p}？", "c"), ("{s}在{c}[见]到了谁？", "p"), ("谁在{c}[见]到了{p}？", "s")],
        ),
        (
            dict(s="person", c="city", t="day"),
            ["{s}{t}[去]{c}。", "{t}{s}要[去]{c}。"],
            [("{s}什么时候[去]{c}？", "t"), ("{s}{t}[去]哪里？", "c"), ("谁{t}[去]{c}？", "s")],
        ),
        (
            dict(s="person", o="object", p="person"),
            ["{s}向{p}[借]了{o}。", "{p}把{o}[借]给了{s}。"],
            [("谁向{p}[借]了{o}？", "s"), ("{s}向谁[借]了{o}？", "p"), ("{s}向{p}[借]了什么？", "o")],
        ),
        (
            dict(e="event", t="moment", p="place"),
            ["{e}{t}在{p}举行。", "{e}于{t}在{p}举行。"],
            [("{e}[什么时候]举行？", "t"), ("{e}在[哪里]举行？", "p")],
        ),
    ],
}
EVENT_NAMES = {
    "en": "meeting lecture concert exam class lunch dinner party trip interview workshop training delivery "
    "appointment conference lesson".split(),
    "zh": "会议 讲座 音乐会 考试 课程 午餐 晚会 聚会 旅行 面试 培训".split(),
}
MOVERS = {
    "en": "train bus flight ship boat truck guest parcel".split(),
    "zh": "火车 航班 轮船 客人 包裹".split(),
}
MATERIALS = {
    "en": "wood metal glass paper leather plastic stone gold silver cotton".split(),
    "zh": "木头 铁 玻璃 纸 皮 石头 金 银".split(),
}
FRAMES = {
    "en": [
        ("Remember that ", "."),
        ("By the way, ", "."),
        ("It says here that ", "."),
        ("", ", as everybody knows."),
        ("Note: ", "."),
        ("", ", and that will not change."),
        ("As always, ", "."),
        ("", " (see the list)."),
    ],
    "zh": [
        ("注意，", "。"),
        ("大家都知道，", "。"),
        ("记住：", "。"),
        ("", "，这一点不会变。"),
        ("听说", "。"),
        ("", "（见名单）。"),
    ],
}
