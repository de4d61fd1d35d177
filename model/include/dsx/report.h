/* SPDX-License-Identifier: MIT */
/* Reports: explanations as text for people, editors and programs. docs/explain.md says how to read them, and
 * docs/explain.schema.json what JSON holds. */
#ifndef DSX_REPORT_H
#define DSX_REPORT_H

#include <dsx/explain.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    DSX_REPORT_ANSI = 0, /**< for a terminal: the sources with what matters marked, a table, sums, warnings */
    DSX_REPORT_HTML = 1, /**< one page that needs nothing else */
    DSX_REPORT_JSON = 2, /**< dsexplain/1: one object on one line */
    DSX_REPORT_JSONL = 3, /**< the same in lines: a header, targets as they come, an end */
    DSX_REPORT_GREP = 4,  /**< path:line:column:score:text, for editors */
    DSX_REPORT_MARKDOWN = 5,
    DSX_REPORT_CSV = 6,
    DSX_N_REPORTS = 7
};

/** Parts of a report in lines (DSX_REPORT_JSONL), which can be written one after the other. */
enum { DSX_PART_ALL = 0, DSX_PART_HEAD = 1, DSX_PART_TARGETS = 2, DSX_PART_END = 3 };

/** Takes the next bytes of a report. Non-zero: stop, the call answers DSTOK_E_IO. */
typedef int dsx_report_sink(void *context, const void *bytes, size_t n);

/** How a report is written. DSX_REPORT_OPTIONS_INIT has the defaults; NULL and 0 elsewhere: not known, left out.
 *  format     DSX_REPORT_*
 *  level      DSTOK_TRACE_*: what is listed
 *  top        rows at most, best first; 0: 10 for ANSI, HTML and MARKDOWN, all for others
 *  min_score  rows below it are left out
 *  colours    of ANSI: 0, 16, 256, or 1 << 24
 *  columns    of ANSI: width of the terminal; 0: 80
 *  part, first_target  for DSX_REPORT_JSONL: DSX_PART_*, and the number of the first explanation
 *  is_partial non-zero: not all that was asked for is there, and the report says so
 *  model_path, model_sha256, tokenizer_path, tokenizer_sha256   64 hex digits each
 *  source_sha256  shape (n_sources,), or NULL
 *  load_seconds, generate_seconds, peak_bytes  of the whole run */
typedef struct dsx_report_options {
    size_t struct_size;
    int format, level;
    size_t top;
    double min_score;
    int colours;
    size_t columns;
    int part;
    size_t first_target;
    int is_partial;
    const char *model_path, *model_sha256, *tokenizer_path, *tokenizer_sha256;
    const char *const *source_sha256;
    double load_seconds, generate_seconds;
    uint64_t peak_bytes;
} dsx_report_options;
#define DSX_REPORT_OPTIONS_INIT                                                                              \
    { .struct_size = sizeof(dsx_report_options), .level = DSTOK_TRACE_SENTENCE, .min_score = -1e300 }

/** Write explanations of one prompt as a report. Text is exact: bytes of the sources, in JSON as base64 where they
 *  are no UTF-8. No number in it is NaN or infinite: what was not measured is null or left out.
 *  explanations  shape (n,), all of this prompt with this response
 *  options       NULL: the defaults
 *  Returns: DSTOK_OK; E_INVAL; E_NOMEM; E_IO (sink); E_UNSUPPORTED (a format that this build does not have).
 *  Threads: safe.   Cost: O(text) for each explanation.   Since: 0.2 */
DSTOK_API DSTOK_NODISCARD dstok_status dsx_report_write(const dsx_prompt *prompt,
                                                        const dsx_explanation *const *explanations, size_t n,
                                                        const dsx_report_options *options,
                                                        dsx_report_sink *sink, void *context,
                                                        dstok_error *err);

#ifdef __cplusplus
}
#endif
#endif
