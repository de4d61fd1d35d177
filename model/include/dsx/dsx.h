/* SPDX-License-Identifier: MIT */
/* Everything libdsx offers: a compact forward pass of language models, on top of libdstok.
 *
 *     dsx_model *model;
 *     dsx_session *session;
 *     int status = dsx_model_open("model.gguf", NULL, &model, &err);
 *     if (status == DSTOK_OK) status = dsx_session_new(model, NULL, &session, &err);
 *     if (status == DSTOK_OK) status = dsx_session_feed(session, ids, n, &err);
 *     if (status == DSTOK_OK) status = dsx_session_logits(session, logits, n_vocab, &err); */
#ifndef DSX_DSX_H
#define DSX_DSX_H

#include <dsx/chat.h>
#include <dsx/model.h>
#include <dsx/policy.h>
#include <dsx/session.h>
#include <dsx/sample.h>
#include <dsx/plan.h>
#include <dsx/cost.h>
#include <dsx/explain.h>
#include <dsx/report.h>

#endif
