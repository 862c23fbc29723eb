// Passes tables to consumers of Arrow's C stream interface without copying. Each structure that a
// consumer receives owns a small object (its member private_data). The private object keeps the
// table alive, and contains the arrays of pointers to which the structure refers. `release` deletes
// the object. A consumer may move a structure with memcpy, and may release children that it has
// moved out. A parent therefore releases only children that are not released yet.

#include "tools/python/arrow.h"

#include <array>
#include <cerrno>
#include <string>
#include <utility>
#include <vector>

namespace tutti::python {
namespace {

/// ARROW_FLAG_NULLABLE (2) is not set, since values are never null.
constexpr std::int64_t kNoFlags = 0;

const char* format_of(const Column& column) {
  static constexpr std::array<const char*, 4> kFormats{"l", "i", "g", "u"};
  return kFormats[column.values.index()];
}

// --- Schemas ---

struct SchemaParts {
  std::string name;
  std::vector<ArrowSchema> children;
  std::vector<ArrowSchema*> pointers;
  ArrowSchema dictionary{};
};

void release_schema(ArrowSchema* schema) {
  const std::unique_ptr<SchemaParts> parts(static_cast<SchemaParts*>(schema->private_data));
  for (ArrowSchema& child : parts->children) {
    if (child.release) child.release(&child);
  }
  if (parts->dictionary.release) parts->dictionary.release(&parts->dictionary);
  schema->release = nullptr;
}

/// Makes a schema that owns `parts`.
ArrowSchema schema_of(const char* format, std::unique_ptr<SchemaParts> parts) {
  for (ArrowSchema& child : parts->children) parts->pointers.push_back(&child);
  ArrowSchema schema{};
  schema.format = format;
  schema.name = parts->name.c_str();
  schema.flags = kNoFlags;
  schema.n_children = static_cast<std::int64_t>(parts->children.size());
  schema.children = parts->pointers.empty() ? nullptr : parts->pointers.data();
  schema.dictionary = parts->dictionary.release ? &parts->dictionary : nullptr;
  schema.release = release_schema;
  schema.private_data = parts.release();
  return schema;
}

ArrowSchema schema_of(const Column& column) {
  auto parts = std::make_unique<SchemaParts>();
  parts->name = column.name;
  if (!column.categories.empty())
    parts->dictionary = schema_of("u", std::make_unique<SchemaParts>());
  return schema_of(format_of(column), std::move(parts));
}

// --- Arrays ---

struct ArrayParts {
  std::shared_ptr<const Table> table;
  Texts categories;  ///< for a dictionary column: the names of its categories, in Arrow's layout
  std::array<const void*, 3> buffers{};
  std::vector<ArrowArray> children;
  std::vector<ArrowArray*> pointers;
  ArrowArray dictionary{};
};

void release_array(ArrowArray* array) {
  const std::unique_ptr<ArrayParts> parts(static_cast<ArrayParts*>(array->private_data));
  for (ArrowArray& child : parts->children) {
    if (child.release) child.release(&child);
  }
  if (parts->dictionary.release) parts->dictionary.release(&parts->dictionary);
  array->release = nullptr;
}

/// Makes an array that owns `parts`. The array's first buffer, the validity bitmap, is absent.
ArrowArray array_of(std::size_t length, std::int64_t buffers, std::unique_ptr<ArrayParts> parts) {
  for (ArrowArray& child : parts->children) parts->pointers.push_back(&child);
  ArrowArray array{};
  array.length = static_cast<std::int64_t>(length);
  array.n_buffers = buffers;
  array.buffers = parts->buffers.data();
  array.n_children = static_cast<std::int64_t>(parts->children.size());
  array.children = parts->pointers.empty() ? nullptr : parts->pointers.data();
  array.dictionary = parts->dictionary.release ? &parts->dictionary : nullptr;
  array.release = release_array;
  array.private_data = parts.release();
  return array;
}

ArrowArray array_of(const Texts& texts, std::unique_ptr<ArrayParts> parts) {
  parts->buffers[1] = texts.ends.data();
  parts->buffers[2] = texts.bytes.data();
  return array_of(texts.size(), 3, std::move(parts));
}

ArrowArray dictionary_of(const std::vector<std::string>& names) {
  auto parts = std::make_unique<ArrayParts>();
  for (const std::string& name : names) parts->categories.add(name);
  const Texts& texts = parts->categories;
  return array_of(texts, std::move(parts));
}

ArrowArray array_of(const std::shared_ptr<const Table>& table, const Column& column) {
  auto parts = std::make_unique<ArrayParts>();
  parts->table = table;
  if (!column.categories.empty()) parts->dictionary = dictionary_of(column.categories);
  if (const auto* const texts = std::get_if<Texts>(&column.values))
    return array_of(*texts, std::move(parts));
  std::visit(
      [&](const auto& values) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(values)>, Texts>)
          parts->buffers[1] = values.data();
      },
      column.values);
  return array_of(column.size(), 2, std::move(parts));
}

// --- The stream ---

struct StreamParts {
  std::shared_ptr<const Table> table;
  bool sent = false;
};
StreamParts& parts_of(ArrowArrayStream* stream) {
  return *static_cast<StreamParts*>(stream->private_data);
}

/// Calls `fill`, and catches exceptions, since the consumer is C code.
template <class Fill>
int guarded(Fill fill) {
  try {
    fill();
    return 0;
  } catch (const std::bad_alloc&) {
    return ENOMEM;
  }
}

int get_schema(ArrowArrayStream* stream, ArrowSchema* out) {
  return guarded([&] {
    auto parts = std::make_unique<SchemaParts>();
    for (const Column& column : parts_of(stream).table->columns())
      parts->children.push_back(schema_of(column));
    *out = schema_of("+s", std::move(parts));
  });
}

int get_next(ArrowArrayStream* stream, ArrowArray* out) {
  return guarded([&] {
    StreamParts& state = parts_of(stream);
    *out = ArrowArray{};  // an array without `release` marks the end of the stream
    if (std::exchange(state.sent, true)) return;
    auto parts = std::make_unique<ArrayParts>();
    parts->table = state.table;
    for (const Column& column : state.table->columns())
      parts->children.push_back(array_of(state.table, column));
    *out = array_of(state.table->rows(), 1, std::move(parts));
  });
}

const char* get_last_error(ArrowArrayStream*) { return nullptr; }

void release_stream(ArrowArrayStream* stream) {
  delete static_cast<StreamParts*>(stream->private_data);
  stream->release = nullptr;
}

}  // namespace

void export_stream(std::shared_ptr<const Table> table, ArrowArrayStream* out) {
  *out = {get_schema, get_next, get_last_error, release_stream,
          std::make_unique<StreamParts>(StreamParts{std::move(table)}).release()};
}

}  // namespace tutti::python
