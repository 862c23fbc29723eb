#include "gui/sweep/sweep_reader.h"

#include <QElapsedTimer>
#include <QStringList>
#include <algorithm>
#include <chrono>
#include <exception>
#include <optional>

#include "core/explore/joined_run.h"
#include "gui/trace/guarded.h"
#include "gui/widgets/tell.h"

namespace tutti::gui {

using core::Expected;
using core::SweepStore;

namespace {

/// The interval between two checks for new points, which keeps the reader's use below a tenth of a
/// core.
constexpr std::chrono::milliseconds kLook{400};
constexpr int kRest = 10;

Expected<void> join_one(const SweepStore& store, const std::string& path,
                        const std::string& timeline) {
  const auto run = core::joined_run(store.info(), store.space(), timeline);
  if (!run) return tl::make_unexpected(run.error());
  auto writable = SweepStore::open(path, core::Database::Mode::kWrite);
  if (!writable) return tl::make_unexpected(writable.error());
  return writable->add_measured({run->point, run->step, run->source, run->program});
}

}  // namespace

void SweepReader::stop() {
  if (course_) {
    const std::lock_guard lock(course_->mutex);
    course_->stopped = true;
    course_->news.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  course_ = nullptr;
}

void SweepReader::follow(const QString& path) {
  stop();
  course_ = std::make_shared<SharedState>();
  thread_ = std::jthread([this, path = path.toStdString(), course = course_] {
    const auto thrown = guarded([&] { work(path, course); });
    if (!thrown) return;
    tell(this, [this, course, why = QString::fromStdString(path + ": " + thrown->message())] {
      if (course == course_) emit failed(why);
    });
  });
}

void SweepReader::join(const QStringList& timelines) {
  if (!course_) return;
  const std::lock_guard lock(course_->mutex);
  for (const QString& path : timelines) course_->to_join.push_back(path.toStdString());
  course_->news.notify_all();
}

/// Reads the sweep, in the reader's thread.
void SweepReader::work(const std::string& path, const std::shared_ptr<SharedState>& course) {
  // Discard the result if the reader has been stopped, or follows another file by now.
  const auto say = [&](auto what) {
    tell(this, [this, course, what] {
      if (course == course_) what();
    });
  };
  const auto fail = [&](const core::Error& error) {
    say([this, why = QString::fromStdString(error.message())] { emit failed(why); });
  };
  auto store = SweepStore::open(path);
  if (!store) return fail(store.error());
  std::vector<std::string> to_join;
  std::optional<QStringList> wrong;  // errors of the measurements that were last joined
  while (true) {
    // Get the file's version before reading the file, so that a change during the read is detected
    // later.
    const auto version = store->version();
    if (!version) return fail(version.error());
    QElapsedTimer took;
    took.start();
    const auto data = read_sweep(*store, path);
    if (!data) return fail(data.error());
    const auto rest = std::max(kLook, std::chrono::milliseconds(kRest * took.elapsed()));
    say([this, data = *data] { emit read(data); });
    const auto report_joined = [&] {
      if (wrong) say([this, wrong = *wrong] { emit joined(wrong); });
      wrong.reset();
    };
    report_joined();
    for (auto now = version; *now == *version;) {
      {
        std::unique_lock lock(course->mutex);
        course->news.wait_for(lock, rest,
                              [&] { return course->stopped || !course->to_join.empty(); });
        if (course->stopped) return;
        to_join = std::exchange(course->to_join, {});
      }
      if (!to_join.empty()) wrong.emplace();
      for (const std::string& timeline : to_join) {
        if (const auto done = join_one(*store, path, timeline); !done)
          *wrong << QString::fromStdString(done.error().message());
      }
      now = store->version();
      if (!now) return fail(now.error());
      if (*now == *version) report_joined();
    }
  }
}

}  // namespace tutti::gui
