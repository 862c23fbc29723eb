#include "tools/python/arrow.h"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tutti::python {
namespace {

using testing::ElementsAre;

std::shared_ptr<const Table> small_table() {
  Texts names;
  for (const char* name : {"first", "", "third"}) names.add(name);
  std::vector<Column> columns;
  columns.push_back({"time", std::vector<std::int64_t>{5, -6, 7'000'000'000'000}});
  columns.push_back({"kind", std::vector<std::int32_t>{1, 0, 1}, {"send", "receive"}});
  columns.push_back({"share", std::vector<double>{0.5, 0.25, 1}});
  columns.push_back({"name", std::move(names)});
  return std::make_shared<const Table>(std::move(columns));
}

/// A consumer of the Arrow C stream interface, which copies nothing and releases everything.
class Consumer {
 public:
  explicit Consumer(std::shared_ptr<const Table> table) {
    export_stream(std::move(table), &stream);
    EXPECT_EQ(stream.get_schema(&stream, &schema), 0);
    EXPECT_EQ(stream.get_next(&stream, &batch), 0);
    ArrowArray end{};
    EXPECT_EQ(stream.get_next(&stream, &end), 0);
    EXPECT_EQ(end.release, nullptr) << "one batch holds everything";
  }
  ~Consumer() {
    if (batch.release) batch.release(&batch);
    if (schema.release) schema.release(&schema);
    if (stream.release) stream.release(&stream);
  }
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;

  [[nodiscard]] const ArrowArray& column(std::size_t c) const { return *batch.children[c]; }
  [[nodiscard]] const ArrowSchema& type(std::size_t c) const { return *schema.children[c]; }
  [[nodiscard]] static std::string text(const ArrowArray& column, std::int64_t row) {
    const auto* const ends = static_cast<const std::int32_t*>(column.buffers[1]);
    const auto* const bytes = static_cast<const char*>(column.buffers[2]);
    return {bytes + ends[row], bytes + ends[row + 1]};
  }

  ArrowArrayStream stream{};
  ArrowSchema schema{};
  ArrowArray batch{};
};

TEST(ArrowStream, DescribesColumns) {
  const Consumer read(small_table());
  EXPECT_STREQ(read.schema.format, "+s");
  ASSERT_EQ(read.schema.n_children, 4);
  std::vector<std::string> columns;
  for (std::size_t c = 0; c < 4; ++c)
    columns.push_back(std::string(read.type(c).name) + " " + read.type(c).format);
  EXPECT_THAT(columns, ElementsAre("time l", "kind i", "share g", "name u"));
  EXPECT_EQ(read.type(0).dictionary, nullptr);
  ASSERT_NE(read.type(1).dictionary, nullptr);
  EXPECT_STREQ(read.type(1).dictionary->format, "u");
}

TEST(ArrowStream, SharesTheMemoryOfTheTable) {
  const auto table = small_table();
  const Consumer read(table);
  ASSERT_EQ(read.batch.length, 3);
  EXPECT_EQ(read.batch.null_count, 0);
  const auto& times = std::get<std::vector<std::int64_t>>(table->columns()[0].values);
  EXPECT_EQ(read.column(0).buffers[1], times.data());
  EXPECT_EQ(read.column(0).n_buffers, 2);
  EXPECT_EQ(read.column(3).n_buffers, 3);
  EXPECT_EQ(Consumer::text(read.column(3), 0), "first");
  EXPECT_EQ(Consumer::text(read.column(3), 1), "");
  EXPECT_EQ(Consumer::text(read.column(3), 2), "third");
  const ArrowArray& names = *read.column(1).dictionary;
  EXPECT_EQ(names.length, 2);
  EXPECT_EQ(Consumer::text(names, 1), "receive");
}

TEST(ArrowStream, DataOutlivesTableAndStream) {
  ArrowArrayStream stream{};
  export_stream(small_table(), &stream);
  ArrowArray batch{};
  ASSERT_EQ(stream.get_next(&stream, &batch), 0);
  stream.release(&stream);
  // The consumer may move a child array out and release the rest.
  ArrowArray moved{};
  std::memcpy(&moved, batch.children[0], sizeof moved);
  batch.children[0]->release = nullptr;
  batch.release(&batch);
  EXPECT_EQ(batch.release, nullptr);
  EXPECT_EQ(static_cast<const std::int64_t*>(moved.buffers[1])[2], 7'000'000'000'000);
  moved.release(&moved);
}

TEST(ArrowStream, CanBeReleasedUnread) {
  const auto table = small_table();
  ArrowArrayStream stream{};
  export_stream(table, &stream);
  EXPECT_GT(table.use_count(), 1);
  stream.release(&stream);
  EXPECT_EQ(stream.release, nullptr);
  EXPECT_EQ(table.use_count(), 1);
}

TEST(ArrowStream, CarriesTablesWithoutRows) {
  std::vector<Column> columns;
  columns.push_back({"time", std::vector<std::int64_t>{}});
  columns.push_back({"name", Texts{}});
  const Consumer read(std::make_shared<const Table>(std::move(columns)));
  EXPECT_EQ(read.batch.length, 0);
  EXPECT_EQ(static_cast<const std::int32_t*>(read.column(1).buffers[1])[0], 0);
}

}  // namespace
}  // namespace tutti::python
