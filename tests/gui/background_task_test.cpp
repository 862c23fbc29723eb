#include "gui/widgets/background_task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QCoreApplication>
#include <QTest>
#include <stdexcept>
#include <string>
#include <vector>

namespace tutti::gui {
namespace {

using Result = core::Expected<int>;
using testing::ElementsAre;
using testing::IsEmpty;

/// Computes until it is asked to stop.
Result until_stopped(const std::atomic<bool>& stop) {
  while (!stop) std::this_thread::yield();
  return tl::make_unexpected(core::Error::run("stopped"));
}

class BackgroundTaskTest : public testing::Test {
 protected:
  /// Lets the results arrive that are in the event queue.
  static void receive() { QCoreApplication::processEvents(); }

  QObject owner_;
  std::vector<std::string> results_;
  BackgroundTask<int> task_{
      owner_, [this](const Result& result) {
        results_.push_back(result ? std::to_string(*result) : result.error().message());
      }};
};

TEST_F(BackgroundTaskTest, DeliversAResultThroughTheEventLoopOnce) {
  task_.begin([](const std::atomic<bool>&) { return Result(7); });
  EXPECT_TRUE(task_.running());
  EXPECT_TRUE(QTest::qWaitFor([&] { return !results_.empty(); }, 5000));
  EXPECT_FALSE(task_.running());
  receive();
  EXPECT_THAT(results_, ElementsAre("7"));
}

TEST_F(BackgroundTaskTest, FinishWaitsForTheResultAndDeliversItOnlyOnce) {
  task_.begin([](const std::atomic<bool>&) { return Result(7); });
  task_.finish();
  EXPECT_THAT(results_, ElementsAre("7"));
  receive();
  task_.finish();
  EXPECT_THAT(results_, ElementsAre("7"));
}

TEST_F(BackgroundTaskTest, DeliversTheErrorOfAStoppedComputation) {
  task_.begin(until_stopped);
  task_.stop();
  task_.finish();
  EXPECT_THAT(results_, ElementsAre("stopped"));
}

TEST_F(BackgroundTaskTest, DeliversNoResultOfADroppedComputation) {
  task_.begin(until_stopped);
  task_.drop();
  EXPECT_FALSE(task_.running());
  task_.finish();
  task_.drop_and_wait();
  receive();
  EXPECT_THAT(results_, IsEmpty());
}

TEST_F(BackgroundTaskTest, DeliversOnlyTheLastOfSeveralComputations) {
  task_.begin(until_stopped);
  task_.begin([](const std::atomic<bool>&) { return Result(1); });
  task_.begin([](const std::atomic<bool>&) { return Result(2); });
  EXPECT_TRUE(QTest::qWaitFor([&] { return !task_.running(); }, 5000));
  receive();
  EXPECT_THAT(results_, ElementsAre("2"));
}

TEST_F(BackgroundTaskTest, DeliversExceptionsAsErrors) {
  task_.begin([](const std::atomic<bool>&) -> Result { throw std::runtime_error("no luck"); });
  task_.finish();
  EXPECT_THAT(results_, ElementsAre("no luck"));
}

}  // namespace
}  // namespace tutti::gui
