#include "core/query/record_table.h"

namespace tutti::core {

class RecordTable::Rows : public TableCursor {
 public:
  explicit Rows(const RecordTable& table) : table_(table) {}
  Expected<void> start(int, sqlite3_value**) override {
    timeline_ = i_ = inner_ = 0;
    row_ = 0;
    skip_empty();
    return {};
  }
  Expected<void> next() override {
    ++row_;
    table_.gradients_ ? ++inner_ : ++i_;
    skip_empty();
    return {};
  }
  [[nodiscard]] bool at_end() const override {
    return timeline_ >= table_.catalog_.timelines.size();
  }
  void put_column(sqlite3_context* out, int column) const override {
    table_.columns_[column].put(out, RecordRow{{table_.catalog_, timeline_}, i_, inner_});
  }
  [[nodiscard]] std::int64_t row_number() const override { return row_; }

 private:
  void skip_empty() {
    for (; !at_end(); ++timeline_, i_ = inner_ = 0) {
      const TimelineReader& reader = *table_.catalog_.timelines[timeline_].reader;
      for (; i_ < table_.count_(reader); ++i_, inner_ = 0) {
        if (!table_.gradients_ || inner_ < reader.run().packs[i_].gradients.size()) return;
      }
    }
  }

  const RecordTable& table_;
  std::size_t timeline_ = 0, i_ = 0, inner_ = 0;
  std::int64_t row_ = 0;
};

std::unique_ptr<TableCursor> RecordTable::open() const { return std::make_unique<Rows>(*this); }

}  // namespace tutti::core
