// Predicts the times of a system from other measured times of the same system.
//
// The time model predicts T = launch + hops + fill + transfer. On a given system, each of the four
// parts deviates from the prediction by a factor that is the same for all its collectives. For
// example, launches take 1.3 times as long as predicted, and the network transfers 0.9 times as
// much per second. To first order, the logarithm r of measured over predicted time is the following
// sum.
//
//   r = sum over parts of a_q f_q + latency (u_protocol + v_collective) + g(size) + e.
//
// Here, a_q is the fraction of T in part q (for an all-reduce of 1 KiB: launch 0.5, hops 0.5), and
// f_q is the logarithm of the part's factor. The latency is a_launch + a_hops. The smooth function
// g of the size stands for effects that the time model omits, and e is the noise between repeated
// measurements. Before a system is measured, f, u, v, g and e are random variables with mean 0. The
// covariance of two measurements (rows) i and j is the following sum.
//
//   K(i,j) = sum over q of s_q^2 a_iq a_jq c_q
//          + latency_i latency_j (s_protocol^2 [same protocol] + s_pattern^2 [same pattern]
//                                 + s_collective^2 [same collective])
//          + near(sizes) (near(ranks) c (A_system^2 + A_protocol^2 [same protocol]
//                                        + A_pattern^2 [same pattern]
//                                        + A_collective^2 [same collective])
//                         + A_table^2 [same table]).
//
// A pattern is the way in which messages travel: rings, chains (broadcast and reduce), trees,
// switches that reduce, and sends. The factor c is 1 for two rows that were measured under the same
// conditions. The factor c is smaller if one row was measured inside a node and the other between
// nodes, or if the rows were measured under different environment variables. For hops and transfer,
// c is also smaller if the patterns of the rows differ. The function near() is 1 for equal sizes
// (or numbers of ranks), and falls with the square of the number of doublings between the two rows.
//
// For measured rows with the logarithms r, any other time x gets the correction k(x)' (K + V)^-1 r
// with the variance k(x,x) - k(x)' (K + V)^-1 k(x), where V is the variance of the noise. The
// computation needs one Cholesky factorisation of a matrix of at most 60 rows. For example, suppose
// that launch has a standard deviation of 0.5, and that one row of 8 bytes, 0.8 of which is launch,
// takes 1.5 times the predicted time (r = 0.41). Because of this row, launch is multiplied by
// exp(0.5^2 * 0.8 / (0.5^2 * 0.8^2 + 0.06^2) * 0.41) = 1.65. A predicted time of which a fraction
// of 0.1 is launch is multiplied by 1.05. A time that consists only of transfer is not corrected
// and keeps its error band.
//
// Errors are assumed to have Student's t-distribution with 4 degrees of freedom. A row that
// contradicts the other rows, for example because another job ran on the machine, therefore has
// little weight. The weights w = 5 / (4 + e^2 / V) are computed iteratively, in three rounds.
//
// The parameters s, A, V and c are estimated from measured systems (spread.h, tools/nccl_spread).
// SOURCE: Rasmussen and Williams, "Gaussian processes for machine learning", 2006, algorithm 2.1.

#include "core/nccl/calibration/time_process.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/base/fnv.h"
#include "core/base/median.h"

namespace tutti::core::nccl {
namespace {

constexpr std::size_t kLaunchPart = 0, kHopsPart = 1, kFillPart = 2, kTransferPart = 3;
constexpr double kDegrees = 4;  ///< degrees of freedom of Student's t-distribution of the errors
constexpr int kRounds = 3;
constexpr std::int64_t kLargeRow = 16 << 20;

double square(double x) { return x * x; }

double share(const TimedPoint& x, std::size_t part) { return x.parts_us[part] / x.us(); }

/// The pattern of messages. The time model is assumed to have the same relative error for all
/// collectives with the same pattern.
enum class MessagePattern { kSends, kRing, kChain, kTree, kSwitch, kPat, kNetwork };
MessagePattern message_pattern_of(const TimedPoint& x) {
  if (!x.algorithm) return MessagePattern::kSends;
  switch (*x.algorithm) {
    case Algorithm::kRing: break;
    case Algorithm::kTree: return MessagePattern::kTree;
    case Algorithm::kNvls:
    case Algorithm::kNvlsTree: return MessagePattern::kSwitch;
    case Algorithm::kPat: return MessagePattern::kPat;
    case Algorithm::kCollNetDirect:
    case Algorithm::kCollNetChain: return MessagePattern::kNetwork;
  }
  return x.kind == CollectiveKind::kBroadcast || x.kind == CollectiveKind::kReduce
             ? MessagePattern::kChain
             : MessagePattern::kRing;
}

double log_ratio(const MeasuredPoint& row) { return std::log(row.measured_us / row.at.us()); }

}  // namespace

double TimeProcess::covariance(const TimedPoint& x, const TimedPoint& y, bool same_table) const {
  const auto of = [&](Scale scale) { return spread_.at(scale); };
  const bool x_far = x.nodes > 1, y_far = y.nodes > 1;
  const double settings = x.settings == y.settings ? 1 : of(Scale::kSettings);
  const double across = (x_far == y_far ? 1 : of(Scale::kAcross)) * settings;
  const bool same_pattern = message_pattern_of(x) == message_pattern_of(y);
  const double moving = across * (same_pattern ? 1 : of(Scale::kOtherPattern));
  double sum =
      square(of(Scale::kLaunch)) * share(x, kLaunchPart) * share(y, kLaunchPart) +
      square(of(Scale::kHops)) * share(x, kHopsPart) * share(y, kHopsPart) * moving +
      square(of(Scale::kFill)) * share(x, kFillPart) * share(y, kFillPart) +
      square(of(Scale::kTransfer)) * share(x, kTransferPart) * share(y, kTransferPart) * moving;
  const bool same_protocol = x.protocol == y.protocol, same_collective = x.kind == y.kind;
  const double latencies =
      (share(x, kLaunchPart) + share(x, kHopsPart)) * (share(y, kLaunchPart) + share(y, kHopsPart));
  if (same_protocol) sum += latencies * square(of(Scale::kProtocol));
  if (same_pattern) sum += latencies * square(of(Scale::kPattern));
  if (same_collective) sum += latencies * square(of(Scale::kCollective));
  double smooth = square(of(Scale::kSmoothSystem));
  if (same_protocol) smooth += square(of(Scale::kSmoothProtocol));
  if (same_pattern) smooth += square(of(Scale::kSmoothPattern));
  if (same_collective) smooth += square(of(Scale::kSmoothCollective));
  const double more = std::log2(static_cast<double>(x.ranks) / y.ranks);
  smooth *= across * std::exp(-square(more / of(Scale::kNodesLength)) / 2);
  if (same_table) smooth += square(of(Scale::kSmoothTable));
  const double doublings = std::log2(static_cast<double>(x.bytes) / static_cast<double>(y.bytes));
  const double far =
      (x_far ? of(Scale::kSeveralNodes) : 1) * (y_far ? of(Scale::kSeveralNodes) : 1);
  return sum + far * smooth * std::exp(-square(doublings / of(Scale::kLength)) / 2);
}

double TimeProcess::noise(const TimedPoint& x) const {
  return square(spread_.at(x.bytes < kLargeRow ? Scale::kRowSmall : Scale::kRowLarge));
}

TimeProcess::TimeProcess(const std::vector<MeasuredPoint>& rows, const Spread& spread,
                         std::size_t max_rows)
    : spread_(spread), rows_(thinned(rows, max_rows)) {
  const std::size_t n = rows_.size();
  weights_.assign(n, 1);
  std::vector<double> residuals;
  for (const MeasuredPoint& row : rows_) residuals.push_back(log_ratio(row));
  std::vector<double> kernel(n * n);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j)
      kernel[i * n + j] = covariance(rows_[i].at, rows_[j].at, rows_[i].table == rows_[j].table);
  }
  for (int round = 0; round < kRounds; ++round) {
    lower_ = kernel;
    for (std::size_t i = 0; i < n; ++i) lower_[i * n + i] += noise(rows_[i].at) / weights_[i];
    factorise();
    alpha_ = residuals;
    forward(alpha_);
    backward(alpha_);
    if (round + 1 == kRounds) break;
    for (std::size_t i = 0; i < n; ++i) {
      const double variance = noise(rows_[i].at);
      const double error = variance / weights_[i] * alpha_[i];
      weights_[i] = (kDegrees + 1) / (kDegrees + square(error) / variance);
    }
  }
}

void TimeProcess::factorise() {
  const std::size_t n = rows_.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j <= i; ++j) {
      double sum = lower_[i * n + j];
      for (std::size_t k = 0; k < j; ++k) sum -= lower_[i * n + k] * lower_[j * n + k];
      // The sum is positive, because the matrix has the noise on its diagonal; max() guards against
      // rounding.
      lower_[i * n + j] = i == j ? std::sqrt(std::max(sum, 1e-12)) : sum / lower_[j * n + j];
    }
  }
}

void TimeProcess::forward(std::vector<double>& b) const {
  const std::size_t n = rows_.size();
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) b[i] -= lower_[i * n + k] * b[k];
    b[i] /= lower_[i * n + i];
  }
}

void TimeProcess::backward(std::vector<double>& b) const {
  const std::size_t n = rows_.size();
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) b[i] -= lower_[k * n + i] * b[k];
    b[i] /= lower_[i * n + i];
  }
}

TimeCorrection TimeProcess::at(const TimedPoint& point) const {
  TimeCorrection made;
  // Treat the time to correct as a row of a table that has not been measured.
  const double before = covariance(point, point, true) + noise(point);
  std::vector<double> k;
  for (const MeasuredPoint& row : rows_) k.push_back(covariance(point, row.at, false));
  for (std::size_t i = 0; i < k.size(); ++i) made.log_factor += k[i] * alpha_[i];
  forward(k);
  double after = before;
  for (const double one : k) after -= square(one);
  made.sd_before = std::sqrt(before);
  made.sd = std::sqrt(std::max(after, noise(point)));
  return made;
}

TimeCorrection TimeProcess::part(std::size_t part, bool several_nodes) const {
  constexpr std::array<Scale, 4> kScaleOf = {Scale::kLaunch, Scale::kHops, Scale::kFill,
                                             Scale::kTransfer};
  const double before = spread_.at(kScaleOf[part]);
  TimeCorrection made{0, 0, before};
  std::vector<double> k;
  for (const MeasuredPoint& row : rows_) {
    const bool sided = part == kHopsPart || part == kTransferPart;
    double same = !sided || (row.at.nodes > 1) == several_nodes ? 1 : spread_.at(Scale::kAcross);
    if (sided && message_pattern_of(row.at) != MessagePattern::kRing)
      same *= spread_.at(Scale::kOtherPattern);
    k.push_back(square(before) * share(row.at, part) * same);
  }
  for (std::size_t i = 0; i < k.size(); ++i) made.log_factor += k[i] * alpha_[i];
  forward(k);
  double after = square(before);
  for (const double one : k) after -= square(one);
  made.sd = std::sqrt(std::max(after, 0.0));
  return made;
}

std::vector<MeasuredPoint> thinned(std::vector<MeasuredPoint> rows, std::size_t most) {
  std::map<std::tuple<int, std::int64_t>, std::vector<MeasuredPoint>> repeats;
  for (MeasuredPoint& row : rows) repeats[{row.table, row.at.bytes}].push_back(row);
  std::map<int, std::vector<MeasuredPoint>> tables;
  for (auto& [key, same] : repeats) {
    std::vector<double> us;
    for (const MeasuredPoint& row : same) us.push_back(row.measured_us);
    same.front().measured_us = median(us);
    tables[std::get<0>(key)].push_back(same.front());
  }
  // If a table has fewer rows than its equal share of `most`, larger tables get the rest of its
  // share.
  std::vector<std::pair<std::size_t, int>> by_rows;
  for (const auto& [table, own] : tables) by_rows.emplace_back(own.size(), table);
  std::sort(by_rows.begin(), by_rows.end());
  std::vector<MeasuredPoint> kept;
  std::size_t places = most, left = by_rows.size();
  for (const auto& [size, table] : by_rows) {
    const std::size_t take = std::min(size, places / left);
    const std::vector<MeasuredPoint>& own = tables[table];
    for (std::size_t i = 0; i < take; ++i)
      kept.push_back(own[take == 1 ? size / 2 : i * (size - 1) / (take - 1)]);
    places -= take;
    --left;
  }
  return kept;
}

TimedPoint timed_point(CollectiveKind kind, std::int64_t bytes, int ranks, int nodes,
                       const std::optional<Choice>& choice, const Prediction& time) {
  TimedPoint made{kind,  {},    {}, bytes,
                  ranks, nodes, 0,  {time.launch, time.hops, time.fill, time.transfer}};
  if (choice) made.algorithm = choice->algorithm, made.protocol = choice->protocol;
  return made;
}

std::uint64_t settings_digest(std::vector<std::pair<std::string, std::string>> variables) {
  if (variables.empty()) return 0;
  std::sort(variables.begin(), variables.end());
  Fnv digest;
  for (const auto& [name, value] : variables) {
    digest.bytes(name);
    digest.byte('=');
    digest.bytes(value);
    digest.byte('\n');
  }
  return digest.value();
}

}  // namespace tutti::core::nccl
