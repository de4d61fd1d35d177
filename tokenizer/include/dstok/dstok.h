/* SPDX-License-Identifier: MIT */
/* Everything libdstok offers. */
#ifndef DSTOK_DSTOK_H
#define DSTOK_DSTOK_H

#include <dstok/version.h>
#include <dstok/base.h>
#include <dstok/tokenizer.h>
#include <dstok/batch.h>
#include <dstok/align.h>
#include <dstok/map.h>
#include <dstok/trace.h>
#include <dstok/chunker.h>
#include <dstok/jsonl.h>
#include <dstok/stream.h>
#include <dstok/trainer.h>

#endif
