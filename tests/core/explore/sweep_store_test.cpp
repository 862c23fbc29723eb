// Files of sweeps (SQLite databases): outcomes are stored and read back, an interrupted sweep is
// resumed, files that are truncated or changed by other programs are handled, and several processes
// can use one file.

#include "core/explore/sweep_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "core/explore/database.h"
#include "tests/support/problems.h"
#include "tests/support/process.h"
#include "tests/support/program.h"

namespace tutti::core {
namespace {

using testing::ElementsAre;

SweepInfo info() {
  SweepInfo made;
  made.version = "1.2";
  made.scenario_file = "mine.textproto";
  made.scenario_text = "cluster {}\n# ünïcode 'quotes' \"too\"\n";
  made.set = {"run.seed=7"};
  made.axes = {*parse_axis("", "strategy.shards=1,2"),
               *read_points("strategy.algorithm,strategy.launch\nring,\nnccl,SERIAL\n", "p")};
  return made;
}

Outcome outcome(std::int64_t number) {
  Outcome made;
  for (const Cost& cost : kCosts) made.*cost.time = Time(++number);
  made.packs = number;
  made.seed = 18446744073709551615u;
  return made;
}

TEST(SweepStore, ReadsWhatWasWritten) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("a.sweep");
  Outcome refused;
  refused.status = Outcome::Status::kRefused;
  refused.message = "line 1\nline 2, with 'quotes'";
  {
    auto store = SweepStore::resume(path, info());
    ASSERT_TRUE(store) << store.error().message();
    ASSERT_TRUE(store->add(2, outcome(100)));
    ASSERT_TRUE(store->add(0, refused));
    ASSERT_TRUE(store->add(2, outcome(500))) << "a point keeps its first row";
    ASSERT_TRUE(store->remember({Library::Kind::kModel, "m", "m.csv", "text"}));
  }
  auto store = SweepStore::open(path);
  ASSERT_TRUE(store) << store.error().message();
  EXPECT_EQ(store->info().scenario_text, info().scenario_text);
  EXPECT_EQ(store->info().set, info().set);
  EXPECT_EQ(store->space().size(), 4);
  EXPECT_EQ(store->space().values(1), (std::vector<std::string>{"1", "nccl", "SERIAL"}));
  std::vector<std::pair<std::int64_t, Outcome>> rows;
  ASSERT_TRUE(
      store->each([&](std::int64_t point, const Outcome& o) { rows.emplace_back(point, o); }));
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].first, 0);
  EXPECT_EQ(rows[0].second, refused);
  EXPECT_EQ(rows[1].first, 2);
  EXPECT_EQ(rows[1].second, outcome(100));
  EXPECT_EQ(store->files()->front().text, "text");
}

TEST(Outcome, ConvertsToTextAndBack) {
  Outcome refused;
  refused.status = Outcome::Status::kRefused;
  refused.message = "line 1\nline 2";
  refused.stopped = true;
  for (const Outcome& one : {outcome(100), refused}) {
    EXPECT_EQ(outcome_from_text(to_text(one)), one);
    // An incomplete text is never taken for a complete outcome, unless only its message is cut.
    const std::string text = to_text(one);
    for (std::size_t size = 0; size <= text.find('\n'); ++size)
      EXPECT_FALSE(outcome_from_text(text.substr(0, size)));
  }
  EXPECT_FALSE(outcome_from_text("7 0 0 0 1 2 3 4 5 6 7 8 9\n"));
  EXPECT_FALSE(outcome_from_text("x"));
}

TEST(SweepStore, HasAViewWithNumericColumns) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("a.sweep");
  {
    auto store = SweepStore::resume(path, info());
    ASSERT_TRUE(store);
    ASSERT_TRUE(store->add(2, outcome(1'999'999'999'999)));
  }
  auto database = Database::open(path, Database::Mode::kRead);
  ASSERT_TRUE(database);
  auto row = database->prepare(
      "SELECT typeof(\"strategy.shards\"), typeof(\"strategy.algorithm\"), "
      "\"strategy.shards\" + 1, step_time_ms, packs FROM result ORDER BY step_time_ms");
  ASSERT_TRUE(row) << row.error().message();
  ASSERT_TRUE(*row->step());
  EXPECT_EQ(row->text(0), "integer");
  EXPECT_EQ(row->text(1), "text");
  EXPECT_EQ(row->integer(2), 3);
  EXPECT_EQ(row->text(3), "2000.0");
}

TEST(SweepStore, ResumesOnlyTheSameSweep) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("a.sweep");
  { ASSERT_TRUE(SweepStore::resume(path, info())->add(1, outcome(1))); }
  auto again = SweepStore::resume(path, info());
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_EQ(*again->done(), (std::vector<bool>{false, true, false, false}));

  const auto why = [&](auto change) {
    SweepInfo other = info();
    change(other);
    return test::kinds_of(SweepStore::resume(path, other));
  };
  EXPECT_THAT(why([](SweepInfo& i) { i.version = "1.3"; }), ElementsAre("conflict --version"));
  EXPECT_THAT(why([](SweepInfo& i) { i.scenario_text += "#"; }), ElementsAre("conflict Scenario"));
  EXPECT_THAT(why([](SweepInfo& i) { i.set.clear(); }), ElementsAre("conflict --set"));
  EXPECT_THAT(why([](SweepInfo& i) { i.axes.pop_back(); }), ElementsAre("conflict --over"));
  EXPECT_THAT(why([](SweepInfo& i) { i.axes[0].rows.push_back({"3"}); }),
              ElementsAre("conflict --over"));
}

TEST(SweepStore, RefusesToResumeIfANamedFileHasChanged) {
  const test::TemporaryFolder folder;
  auto store = SweepStore::resume(folder.file("a.sweep"), info());
  ASSERT_TRUE(store->remember({Library::Kind::kModel, "m", "m.csv", "text"}));
  ASSERT_TRUE(store->remember({Library::Kind::kModel, "m", "m.csv", "text"}));
  ASSERT_TRUE(store->remember({Library::Kind::kMachine, "m", "m.textproto", "other"}))
      << "of another kind";
  EXPECT_THAT(test::kinds_of(store->remember({Library::Kind::kModel, "m", "m.csv", "new"})),
              ElementsAre("conflict"));
}

TEST(SweepStore, RefusesOtherFiles) {
  const test::TemporaryFolder folder;
  const std::string text = folder.write(
      "notes.txt", "these are notes, and long enough to be no header of a database at all, surely");
  EXPECT_THAT(test::kinds_of(SweepStore::resume(text, info())), ElementsAre("wrong-type"));
  const auto missing = SweepStore::open(folder.file("missing"));
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind(), ErrorKind::kRequest);
  EXPECT_EQ(missing.error().problems().front().where.file, folder.file("missing"));
  const std::string other = folder.file("other.db");
  {
    auto database = Database::open(other, Database::Mode::kWrite);
    ASSERT_TRUE(database->run("CREATE TABLE t (a)"));
  }
  EXPECT_THAT(test::kinds_of(SweepStore::resume(other, info())), ElementsAre("wrong-type"));
  EXPECT_THAT(test::kinds_of(SweepStore::open(other)), ElementsAre("wrong-type"));
}

/// A killed program may leave a file that is cut at any length. Such a file is either rejected or
/// resumed; the program never crashes.
TEST(SweepStore, ATruncatedFileIsReadOrRefused) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("whole.sweep");
  { ASSERT_TRUE(SweepStore::resume(path, info())->add(1, outcome(1))); }
  const std::string whole = folder.read("whole.sweep");
  for (std::size_t size = 0; size < whole.size(); size += 997) {
    const std::string cut = folder.write("cut.sweep", whole.substr(0, size));
    auto store = SweepStore::resume(cut, info());
    if (store) static_cast<void>(store->done());
    for (const char* ending : {"", "-wal", "-shm"}) std::remove((cut + ending).c_str());
  }
}

// --- files that other programs change or use ---

/// Runs an SQL statement on the file, as any other program might.
void change(const std::string& path, const char* sql) {
  sqlite3* raw = nullptr;
  ASSERT_EQ(sqlite3_open(path.c_str(), &raw), SQLITE_OK);
  char* why = nullptr;
  EXPECT_EQ(sqlite3_exec(raw, sql, nullptr, nullptr, &why), SQLITE_OK) << (why ? why : "");
  sqlite3_free(why);
  sqlite3_close(raw);
}

TEST(SweepStore, RefusesFilesWithAnotherSchema) {
  const std::pair<const char*, const char*> changes[] = {
      {"an endless view",
       "DROP TABLE point; CREATE VIEW point AS WITH RECURSIVE n(point) AS (SELECT 1 UNION ALL "
       "SELECT point + 1 FROM n) SELECT point, '' AS status, '' AS message FROM n"},
      {"a view that never has a row",
       "DROP TABLE sweep; CREATE VIEW sweep AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT "
       "x + 1 FROM n) SELECT x AS name, x AS value FROM n WHERE x < 0"},
      {"a trigger", "CREATE TRIGGER t AFTER INSERT ON point BEGIN DELETE FROM sweep; END"},
      {"a table that is missing", "DROP TABLE axis_row"},
      {"an axis of another world", "UPDATE axis SET axis = 1099511627776 WHERE axis = 1"},
      {"an axis below 0", "UPDATE axis SET axis = -1 WHERE axis = 0"},
      {"a row of another world", "UPDATE axis_row SET row = 4611686018427387904 WHERE row = 1"},
      {"a value too many", "INSERT INTO axis_row VALUES (0, 0, 7, 'x')"}};
  for (const auto& [what, sql] : changes) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.sweep");
    ASSERT_TRUE(SweepStore::resume(path, info()));
    change(path, sql);
    for (const bool writes : {false, true}) {
      const auto store = writes ? SweepStore::resume(path, info()) : SweepStore::open(path);
      ASSERT_FALSE(store) << what;
      EXPECT_EQ(store.error().problems().front().kind.code, ProblemCode::kDamaged)
          << what << store.error().message();
      EXPECT_NE(store.error().message().find("a.sweep"), std::string::npos) << what;
    }
  }
}

/// A generated column may hold any expression, and SQLite computes it for each row.
TEST(SweepStore, StopsAnEndlessQuery) {
  const test::TemporaryFolder folder;
  const std::string path = folder.file("a.db");
  change(path, "CREATE TABLE t (x)");
  auto database = Database::open(path, Database::Mode::kRead);
  ASSERT_TRUE(database);
  const auto endless = database->number(
      "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x FROM n WHERE x < "
      "0");
  ASSERT_FALSE(endless);
  EXPECT_EQ(endless.error().problems().front().kind.code, ProblemCode::kDamaged);
  EXPECT_TRUE(database->number("SELECT count(*) FROM t"))
      << "the next query has its own time limit";
}

TEST(SweepStore, TwoProcessesThatStartAtOnceShareTheFile) {
  for (int round = 0; round < 10; ++round) {
    const test::TemporaryFolder folder;
    const std::string path = folder.file("a.sweep");
    std::vector<std::string> errors(8);
    {
      std::vector<std::thread> threads;
      for (std::size_t t = 0; t < errors.size(); ++t) {
        threads.emplace_back([&, t] {
          auto store = SweepStore::resume(path, info());
          if (!store) {
            errors[t] = store.error().message();
          } else if (const auto added = store->add(static_cast<std::int64_t>(t % 4), outcome(1));
                     !added) {
            errors[t] = added.error().message();
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
    }
    EXPECT_THAT(errors, testing::Each("")) << round;
    auto store = SweepStore::open(path);
    ASSERT_TRUE(store) << store.error().message();
    EXPECT_EQ(*store->done(), std::vector<bool>(4, true));
  }
}

/// The write-ahead log that a killed program has left beside the file is read, too, if it is
/// readable.
TEST(SweepStore, IsReadFromAReadOnlyFolder) {
  const test::TemporaryFolder folder, mounted;
  ASSERT_TRUE([&] {
    auto store = SweepStore::resume(folder.file("a.sweep"), info());
    return store && store->add(0, outcome(1));
  }());
  // The mount is visible only in a separate process.
  const std::string mount = "mount --bind '" + folder.path() + "' '" + mounted.path() +
                            "' && mount -o remount,bind,ro '" + mounted.path() + "'";
  const std::string program = "unshare -m sh -c \"" + mount + " && touch '" + mounted.path() +
                              "/x'\" 2>&1 | grep -q 'Read-only file system'";
  if (std::system(program.c_str()) != 0) GTEST_SKIP() << "no mounts can be made here";
  const std::string tutti = test::tutti_program();
  if (!std::filesystem::exists(tutti)) GTEST_SKIP() << tutti << " is not built";
  const auto in_mount = [&](const std::string& words) {
    return std::system(("unshare -m sh -c \"" + mount + " && '" + tutti + "' " + words + " > '" +
                        folder.file("out") + "' 2>&1\"")
                           .c_str());
  };
  EXPECT_EQ(in_mount("sweep '" + mounted.file("a.sweep") + "'"), 0) << folder.read("out");
}

TEST(SweepStore, IsNotWrittenToADevice) {
  const auto device = SweepStore::resume("/dev/null", info());
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().message(),
            "/dev/null: this is a device; expected a regular file with a sweep");
}

TEST(SweepStore, SaysThatTheFolderMayNotBeWritten) {
  const test::TemporaryFolder folder;
  ASSERT_EQ(::chmod(folder.path().c_str(), 0555), 0);
  const uid_t user = ::geteuid();
  // The superuser may write everywhere, so the test runs as another user.
  if (user == 0) {
    ASSERT_EQ(::seteuid(65534), 0);
  }
  const auto store = SweepStore::resume(folder.file("a.sweep"), info());
  if (user == 0) {
    ASSERT_EQ(::seteuid(0), 0);
  }
  ASSERT_EQ(::chmod(folder.path().c_str(), 0755), 0);
  ASSERT_FALSE(store);
  EXPECT_THAT(store.error().message(), testing::EndsWith("cannot be written: Permission denied"));
}

}  // namespace
}  // namespace tutti::core
