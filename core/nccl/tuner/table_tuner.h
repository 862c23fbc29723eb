#pragma once

#include <memory>
#include <string>

#include "core/base/error.h"
#include "core/nccl/tuner/tuner.h"
#include "core/tuner_table/table.h"

namespace tutti::core::nccl {

/// A tuner plugin that reads its choices from a table. If the table has Tutti's header, the plugin
/// is libnccl-tuner-tutti.so; otherwise, it is NVIDIA's example plugin.
class TableTuner final : public Tuner {
 public:
  /// `name` is the name of the table's file, for messages.
  TableTuner(core::tuner_table::Table table, std::string name)
      : table_(std::move(table)), name_(std::move(name)) {}

  [[nodiscard]] Pick pick(const Communicator& communicator, const Operation& operation,
                          const std::vector<Candidate>& all, bool registered) const override;
  [[nodiscard]] std::vector<std::int64_t> boundaries(const Communicator& communicator,
                                                     Function function) const override;
  void rewrite(const Communicator& communicator, Constants& constants) const override;
  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::string why_not(const Communicator& communicator) const override;

 private:
  [[nodiscard]] bool is_example() const {
    return table_.reader == core::tuner_table::Reader::kNvidiaExample;
  }
  /// Returns the oldest release of NCCL that can load the plugin.
  [[nodiscard]] Version first_release() const;

  core::tuner_table::Table table_;
  std::string name_;
};

/// Loads a table and returns its tuner. ERRORS: the file cannot be read; the file is not a valid
/// table (the error states the line and column).
Expected<std::shared_ptr<const TableTuner>> load_table_tuner(const std::string& path);

}  // namespace tutti::core::nccl
