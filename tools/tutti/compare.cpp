#include "tools/tutti/compare.h"

#include <algorithm>

#include "core/base/format.h"
#include "core/timeline/compare.h"
#include "core/timeline/waiting.h"
#include "tools/tutti/json.h"
#include "tools/tutti/table.h"

namespace tutti::tools {
namespace {

using core::Comparison;
using core::Pair;
using core::show;
using core::Time;

std::string signed_time(Time t) { return (t < Time() ? "-" : "+") + show(t < Time() ? Time() - t : t); }

std::string signed_share(const Pair& pair) {
  const auto share = pair.share();
  return share ? fmt::format("{:+.1f} %", 100 * *share) : "";
}

std::string who(const core::RunInfo& run) {
  return fmt::format("{} ({}), {}", run.scenario, run.executor, run.strategy);
}

std::string text_of(const Comparison& c, int rows) {
  std::string text = fmt::format("first   {}\nsecond  {}\n\n", who(c.a), who(c.b));
  Table parts({"<", "first", "second", "difference", ""});
  const auto row = [&parts](const std::string& name, const Pair& pair) {
    parts.row({name, show(pair.a), show(pair.b), signed_time(pair.difference()), signed_share(pair)});
  };
  row("step time", c.steady.time);
  row("  forward", c.steady.forward);
  row("  backward", c.steady.backward);
  row("  copies and updates", c.steady.other_compute);
  row("  exposed communication", c.steady.exposed);
  if (const Pair left = waiting(c.steady); left.a > core::Time() || left.b > core::Time()) row("  waiting", left);
  if (c.steady.slowed.a > core::Time() || c.steady.slowed.b > core::Time())
    row("slowed by communication", c.steady.slowed);
  row("communication", c.steady.communication);
  text += parts.text(0);
  text += c.basis_a == c.basis_b ? fmt::format("({})\n\n", c.basis_a)
                                 : fmt::format("(first: {}; second: {})\n\n", c.basis_a, c.basis_b);
  for (const std::string& sentence : c.in_words()) text += sentence + '\n';
  if (!c.last.packs.empty() && rows > 0) {
    text += "\npacks of the last step, largest difference first\n";
    std::vector<core::PackComparison> packs = c.last.packs;
    std::stable_sort(packs.begin(), packs.end(), [](const auto& x, const auto& y) {
      return std::abs(x.took.difference().count()) > std::abs(y.took.difference().count());
    });
    Table table({"pack", "bytes", "start 1", "start 2", "time 1", "time 2", "difference", "", "<last gradient"});
    for (std::size_t i = 0; i < packs.size() && i < static_cast<std::size_t>(rows); ++i) {
      const core::PackComparison& p = packs[i];
      table.row({std::to_string(p.pack), show(p.bytes), show(p.start.a), show(p.start.b), show(p.took.a),
                 show(p.took.b), signed_time(p.took.difference()), signed_share(p.took), p.last_gradient});
    }
    text += table.text(2);
    const auto hidden = static_cast<std::int64_t>(packs.size()) - rows;
    if (hidden > 0) text += fmt::format("  … and {} more (--rows {} shows all)\n", hidden, packs.size());
  }
  if (!c.kinds.empty()) {
    text += fmt::format("\nschedule steps in both timelines: {} (times without waiting)\n", c.steps_joined);
    Table table({"<schedule step", "count", "first", "second", "difference", "", "mean |error|"});
    for (const core::KindComparison& k : c.kinds) {
      table.row({core::span_name(k.kind) + (k.together ? "s, together" : ""), std::to_string(k.steps), show(k.time.a),
                 show(k.time.b), signed_time(k.time.difference()), signed_share(k.time), show(k.mean_error)});
    }
    text += table.text(2);
  }
  return text;
}

std::string json_of(const Comparison& c) {
  Json json;
  const auto pair = [&json](const char* name, const Pair& p) {
    json.key(name).object([&] {
      json.field("first_us", p.a);
      json.field("second_us", p.b);
      json.field("difference_us", p.difference());
      if (const auto share = p.share()) json.field("share", *share);
    });
  };
  json.object([&] {
    json.field("first", std::string_view(c.a.scenario));
    json.field("first_executor", std::string_view(c.a.executor));
    json.field("second", std::string_view(c.b.scenario));
    json.field("second_executor", std::string_view(c.b.executor));
    pair("step_time", c.steady.time);
    pair("forward", c.steady.forward);
    pair("backward", c.steady.backward);
    pair("other_compute", c.steady.other_compute);
    pair("communication", c.steady.communication);
    pair("exposed_communication", c.steady.exposed);
    pair("waiting", waiting(c.steady));
    pair("slowed_by_communication", c.steady.slowed);
    json.key("packs").array(c.last.packs, [&](const core::PackComparison& p) {
      json.object([&] {
        json.field("pack", p.pack);
        json.field("pack_in_second", p.pack_b);
        json.field("bytes", p.bytes);
        pair("ready", p.ready);
        pair("start", p.start);
        pair("end", p.end);
        pair("took", p.took);
      });
    });
    json.field("packs_of_first_only", c.last.packs_only_a);
    json.field("packs_of_second_only", c.last.packs_only_b);
    json.key("steps").array(c.kinds, [&](const core::KindComparison& k) {
      json.object([&] {
        json.field("step", std::string_view(core::span_name(k.kind)));
        if (k.together) json.field("together", true);
        json.field("number", k.steps);
        pair("time", k.time);
        json.field("mean_error_us", k.mean_error);
      });
    });
    json.field("steps_of_first_only", c.steps_only_a);
    json.field("steps_of_second_only", c.steps_only_b);
    if (c.together > 0) {
      json.key("channels_differ").object([&] {
        json.field("packs_on_devices", c.together);
        json.field("most_in_first", c.most_channels_a);
        json.field("most_in_second", c.most_channels_b);
      });
    }
    json.key("in_words").array(c.in_words(), [&](const std::string& s) { json.value(std::string_view(s)); });
  });
  return json.text();
}

}  // namespace

int compare(const CompareOptions& options, const Environment&) {
  const auto format = choice<Format>("--format", options.format, kFormats, parse_format);
  if (!format) return report(format.error());
  if (options.rows < 0)
    return report(core::Error::request({core::ProblemCode::kTooSmall, "--rows"}, "--rows must be at least 0"));
  const auto a = core::TimelineReader::open(options.a);
  if (!a) return report(a.error());
  const auto b = core::TimelineReader::open(options.b);
  if (!b) return report(b.error());
  for (const auto& [path, timeline] : {std::pair(&options.a, &*a), std::pair(&options.b, &*b)}) {
    if (!timeline->complete())
      tell(fmt::format("{}: the file {}; comparing the readable part\n", *path, timeline->damage()));
  }
  const auto comparison = core::compare(*a, *b);
  if (!comparison) return report(comparison.error());
  return print_out(*format == Format::kJson ? json_of(*comparison) : text_of(*comparison, options.rows));
}

}  // namespace tutti::tools
