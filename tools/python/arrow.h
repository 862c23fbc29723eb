#pragma once

#include <cstdint>
#include <memory>

#include "tools/python/table.h"

// The structures of Arrow's C data interface and C stream interface, as specified. Any consumer in
// the same process can read these structures, with any Arrow library.
// SOURCE: arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html.
extern "C" {

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

}  // extern "C"

namespace tutti::python {

/// Fills `out` with a stream of one record batch. The batch's buffers are the table's memory. The
/// table exists until the consumer has released the stream and all objects that it got from the
/// stream. Numbers become int64, int32 or float64, texts become utf8, and categorical columns
/// become dictionaries of utf8. No value is null. REQUIRES: `out` contains no stream that the
/// consumer still has to release.
void export_stream(std::shared_ptr<const Table> table, ArrowArrayStream* out);

}  // namespace tutti::python
