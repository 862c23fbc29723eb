#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "core/timeline/byte_source.h"

namespace tutti::test {

/// A byte source that counts the bytes that are read from it.
class CountedBytes : public core::ByteSource {
 public:
  explicit CountedBytes(std::string bytes) : source_(core::byte_source_of(std::move(bytes))) {}
  [[nodiscard]] std::uint64_t size() const override { return source_->size(); }
  [[nodiscard]] std::string read(std::uint64_t offset, std::uint64_t count) const override {
    std::string read = source_->read(offset, count);
    bytes_ += read.size();
    ++calls_;
    return read;
  }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }
  [[nodiscard]] int calls() const { return calls_; }

 private:
  std::shared_ptr<const core::ByteSource> source_;
  mutable std::atomic<std::uint64_t> bytes_ = 0;
  mutable std::atomic<int> calls_ = 0;
};

}  // namespace tutti::test
