#include "gui/editor/checker.h"

#include "gui/trace/guarded.h"
#include "gui/widgets/tell.h"

namespace tutti::gui {

namespace {

/// The time in ms from the last change of the text to the check, which prevents errors about words
/// that the user is still typing.
constexpr int kPauseMs = 150;

}  // namespace

Checker::Checker(core::Library library, core::Schema schema, QObject* parent)
    : QObject(parent), library_(std::move(library)), schema_(std::move(schema)) {
  pause_.setSingleShot(true);
  connect(&pause_, &QTimer::timeout, this, [this] {
    {
      const std::lock_guard lock(mutex_);
      waiting_ = next_;
    }
    there_.notify_one();
  });
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

Checker::~Checker() {
  thread_.request_stop();
  thread_.join();
}

void Checker::check(const std::string& text, const std::string& path, When when) {
  next_ = {text, path, ++newest_};
  pause_.start(when == When::kAtOnce ? 0 : kPauseMs);
}

void Checker::work(const std::stop_token& stop) {
  while (true) {
    std::unique_lock lock(mutex_);
    if (!there_.wait(lock, stop, [this] { return waiting_.has_value(); })) return;
    const Job job = std::move(*waiting_);
    waiting_.reset();
    lock.unlock();
    CheckedScenario result;
    if (const auto thrown =
            guarded([&] { result = check_scenario(job.text, job.path, library_, schema_); }))
      result = {{{thrown->problems().front(), {}, {}}}, {}};
    tell(this, [this, number = job.number, result = std::move(result)] {
      if (number == newest_) emit checked(result);
    });
  }
}

}  // namespace tutti::gui
