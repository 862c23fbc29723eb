// Timelines on a full disk: every complete block is kept, and one line of the output names the
// file.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ostream>
#include <string>

#include "core/timeline/reader.h"
#include "core/timeline/writer.h"
#include "tests/support/process.h"
#include "tests/tools/cluster_run.h"
#include "tests/tools/command_line.h"
#include "tests/tools/sentences.h"
#include "tools/tutti/io/file_buffer.h"

namespace tutti {
namespace {

using core::TimelineReader;
using test::Process;

/// Writes a timeline of some hundred kilobytes in some dozen blocks.
void write_timeline(std::ostream& out) {
  core::TimelineWriter writer(out);
  core::RunInfo run;
  run.scenario_text = std::string(5000, 's');
  writer.begin(run);
  core::Span span;
  span.duration = core::Time(7);
  for (std::int32_t step = 0; step < 20; ++step) {
    if (step == 0) writer.track({0, core::TrackKind::kCompute, 0, "gpu0", 0, -1});
    for (int i = 0; i < 3000; ++i) {
      span.start += core::Time(10'000 + i * i % 1000);
      span.step = step;
      writer.span(0, span);
    }
    writer.step({step, {}, core::Time(100), "w0/gpu0", {}, {}, {}, {}, {}});
    writer.flush();
  }
  writer.end();
}

/// Returns a disk that accepts at most `most` bytes per write, and none at the write with the index
/// `failing`.
tools::FileBuffer::Write disk(std::string& content, int failing, std::size_t most) {
  return [&content, failing, most, number = 0](int, const void* bytes,
                                               std::size_t count) mutable -> ssize_t {
    if (number++ == failing) {
      errno = ENOSPC;
      return -1;
    }
    count = std::min(count, most);
    content.append(static_cast<const char*>(bytes), count);
    return static_cast<ssize_t>(count);
  };
}

/// Writes the timeline to such a disk. Returns the error as an errno.
int write_to(std::string& content, int failing, std::size_t most) {
  tools::FileBuffer buffer(::open("/dev/null", O_WRONLY | O_CLOEXEC), disk(content, failing, most));
  std::ostream out(&buffer);
  write_timeline(out);
  buffer.close();
  return buffer.error();
}

TEST(FullDisk, KeepsCompleteBlocksWhicheverWriteFails) {
  std::string whole;
  constexpr std::size_t kShort = 1777;
  ASSERT_EQ(write_to(whole, -1, kShort), 0);
  const auto all = TimelineReader::from_bytes(whole, "whole");
  ASSERT_TRUE(all && all->complete());
  ASSERT_GT(all->span_blocks().size(), 10u);
  const auto writes = static_cast<int>(whole.size() / kShort);
  for (int failing = 4; failing < writes; failing += 17) {
    std::string content;
    EXPECT_EQ(write_to(content, failing, kShort), ENOSPC);
    ASSERT_TRUE(whole.starts_with(content)) << "no gap, and no block after it";
    const auto left = TimelineReader::from_bytes(content, "cut");
    ASSERT_TRUE(left) << left.error().message();
    const auto& blocks = all->span_blocks();
    const auto fits = std::count_if(
        blocks.begin(), blocks.end(),
        [&](const TimelineReader::SpanBlock& block) { return block.end <= content.size(); });
    EXPECT_EQ(static_cast<std::ptrdiff_t>(left->span_blocks().size()), fits);
    EXPECT_GE(static_cast<std::ptrdiff_t>(left->steps().size()), fits)
        << "each step precedes its spans";
    EXPECT_THAT(left->damage(), test::says_cut_off());
  }
}

/// Runs the command with a limit for the size of files, as on a full disk.
Outcome run_with_room(std::size_t bytes, std::vector<std::string> arguments) {
  std::vector<std::string> words{
      "/bin/sh", "-c", "ulimit -f " + std::to_string(bytes / 512) + "; exec \"$0\" \"$@\"",
      test::tutti_program()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return Process::of(std::move(words), {}).wait();
}

/// Expects that the rest of the timeline is in t.tutti.part, and that the message about it is
/// correct.
void expect_left(const TemporaryFolder& folder, const Outcome& o, std::size_t room) {
  EXPECT_EQ(o.status, 1);
  const std::string part = folder.file("t.tutti.part");
  EXPECT_THAT(o.err, AllOf(HasSubstr("t.tutti: "), HasSubstr("File too large"), HasSubstr(part)));
  EXPECT_THAT(folder.files(), Not(testing::Contains("t.tutti")));
  ASSERT_EQ(folder.read("t.tutti.part").size(), room);
  const auto left = TimelineReader::open(part);
  ASSERT_TRUE(left) << left.error().message();
  EXPECT_THAT(left->damage(), test::says_cut_off());
  std::int64_t spans = 0;
  for (const auto& block : left->span_blocks()) spans += block.spans;
  EXPECT_GT(spans, 0);
  EXPECT_GT(left->steps().size(), 0u);
  EXPECT_THAT(o.err, HasSubstr(fmt::format("({} spans; {} of ", spans, left->steps().size())));
  const Outcome read =
      test::run_tutti({"export", part, "--to", "csv", "--table", "steps", "-o", "-"});
  EXPECT_EQ(read.status, 0) << read.err;
  EXPECT_THAT(read.err, HasSubstr(part));
}

TEST(FullDisk, ASimulationKeepsWhatItHasWritten) {
  const TemporaryFolder folder;
  constexpr std::size_t kRoom = 8u << 20;
  const Outcome o = run_with_room(
      kRoom, {"simulate", test::scenario("05_resnet50_pscpu"), "--steps", "100000", "--max-spans",
              "1000000000", "--remember", "off", "--timeline", folder.file("t.tutti")});
  expect_left(folder, o, kRoom);
  EXPECT_THAT(o.out, test::says_stopped_by_request()) << "and what was computed";
}

TEST(FullDisk, ARealRunKeepsWhatItHasWritten) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", test::ring_of(3, 20'000));
  constexpr std::size_t kRoom = 256u << 10;
  const Outcome o = run_with_room(kRoom, {"run", file, "--timeline", folder.file("t.tutti")});
  expect_left(folder, o, kRoom);
}

TEST(FullDisk, LeavesNoUnreadableFile) {
  const TemporaryFolder folder;
  const std::string file = folder.write("s.textproto", test::ring_of(2, 2));
  const std::string before = folder.write("t.tutti", "TUTTITL1");
  const Outcome o = run_with_room(512, {"simulate", file, "--timeline", folder.file("t.tutti")});
  EXPECT_EQ(o.status, 1);
  EXPECT_THAT(o.err, AllOf(HasSubstr("t.tutti: "), HasSubstr("File too large")));
  EXPECT_THAT(folder.files(), testing::ElementsAre("s.textproto", "t.tutti"));
  EXPECT_EQ(folder.read("t.tutti"), "TUTTITL1") << before << " is unchanged";
}

}  // namespace
}  // namespace tutti
