#include "core/import/nsys_import.h"

#include <algorithm>
#include <deque>

#include <fmt/format.h>

#include "core/formats/nsys.h"
#include "core/import/kineto_import.h"

namespace tutti::core {
namespace {

template <class Read>
Expected<void> import_export(const std::string& name, MeasuredRun& run, const Read& read) {
  std::deque<RankTrace> traces;
  const TakeNsysEvent take = [&](std::size_t process, const KinetoEvent& event) {
    while (traces.size() <= process) traces.emplace_back(run, name);
    traces[process].take(event);
  };
  const Expected<NsysHeader> header = read(take);
  if (!header) return tl::make_unexpected(header.error());
  run.format = "Nsight Systems";
  run.files.push_back(name);
  for (std::size_t p = 0; p < traces.size(); ++p) {
    const NsysProcess& process = header->processes[p];
    KinetoHeader of_rank;
    const auto is_taken = [&run](std::int64_t rank) {
      return std::any_of(run.ranks.begin(), run.ranks.end(),
                         [rank](const MeasuredRank& r) { return r.rank == rank; });
    };
    of_rank.rank = process.rank;
    if (of_rank.rank < 0 || is_taken(of_rank.rank)) {
      of_rank.rank = 0;
      for (const MeasuredRank& r : run.ranks) of_rank.rank = std::max(of_rank.rank, r.rank + 1);
    }
    of_rank.world_size =
        std::max<std::int64_t>(process.ranks, static_cast<std::int64_t>(traces.size()));
    of_rank.base_ns = header->start_ns;
    for (const std::string& gpu : header->gpus) of_rank.devices.push_back({gpu, 0});
    if (auto done = traces[p].finish(std::move(of_rank)); !done) return done;
  }
  if (header->calls > 0 && header->sized_calls == 0)
    run.notes.push_back(fmt::format(
        "{}: the sizes of {} NCCL calls are missing, because the export contains no blobs (binary "
        "fields); export again with nsys export --type sqlite --include-blobs=true",
        name, header->calls));
  return {};
}

}  // namespace

Expected<void> import_nsys(const std::string& path, MeasuredRun& run) {
  return import_export(
      path, run, [&](const TakeNsysEvent& take) { return read_nsys(path, take, run.counts); });
}

Expected<void> import_nsys_bytes(std::string_view bytes, const std::string& name,
                                 MeasuredRun& run) {
  return import_export(name, run, [&](const TakeNsysEvent& take) {
    return read_nsys_bytes(bytes, name, take, run.counts);
  });
}

}  // namespace tutti::core
