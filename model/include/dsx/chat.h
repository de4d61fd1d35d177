/* SPDX-License-Identifier: MIT */
/* What a chat model was taught to see around a user's message, for the known families of chat templates. */
#ifndef DSX_CHAT_H
#define DSX_CHAT_H

#include <dstok/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/** One turn of a user.
 *  family         "ChatML", "Llama 3", "DeepSeek"
 *  before, after  text around the message, whose control tokens count: with the template's own system message, where
 *                 it has one, and the beginning of the answer's turn
 *  system_at, system_len  where the system message stands in before; 0 and 0: there is none
 *  trims          non-zero: blanks at both ends of the message are left out */
typedef struct dsx_chat {
    const char *family;
    char *before, *after;
    size_t system_at, system_len;
    int trims;
} dsx_chat;

/** Read a chat template (Jinja), as dsx_model_info has it. No template code is run: the family is told by its control
 *  tokens.
 *  Returns: DSTOK_OK; E_UNSUPPORTED (none of the known families); E_NOMEM.
 *  Owns: the strings of *out, to be given to dsx_chat_clear.   Threads: safe.   Since: 0.2 */
DSTOK_API DSTOK_NODISCARD dstok_status dsx_chat_read(const char *template_text, dsx_chat *out,
                                                     dstok_error *err);
DSTOK_API void dsx_chat_clear(dsx_chat *chat);

/** The name of the family, without reading more; NULL: none that is known, or template_text is NULL.   Since: 0.2 */
DSTOK_API const char *dsx_chat_family(const char *template_text);

#ifdef __cplusplus
}
#endif
#endif
