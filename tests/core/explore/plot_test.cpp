#include "core/explore/plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "core/explore/shown_values.h"
#include "core/explore/sweep_plot.h"
#include "tests/support/problems.h"

namespace tutti::core {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Space space() {
  return *Space::of({*parse_axis("", "strategy.bytes_per_pack=0,1MiB..16MiB*2"),
                     *parse_axis("", "strategy.algorithm=ring,nccl"),
                     *parse_axis("", "strategy.shards=1,2")});
}

/// Returns outcomes whose milliseconds identify the point: 100 · size + 10 · algorithm + shards.
std::vector<std::optional<Outcome>> outcomes(const Space& space) {
  std::vector<std::optional<Outcome>> all;
  for (std::int64_t p = 0; p < space.size(); ++p) {
    const auto rows = space.rows(p);
    Outcome one;
    one.step = milliseconds(100 * (rows[0] + 1) + 10 * rows[1] + rows[2]);
    one.step_bound = milliseconds(50);
    all.emplace_back(one);
  }
  return all;
}

TEST(SweepPlot, ShowsTheBestOverTheFieldsThatAreNotDrawn) {
  const Space all = space();
  const auto plot = plot_of(all, outcomes(all), "t",
                            {"strategy.bytes_per_pack", "strategy.algorithm", "step_time"});
  ASSERT_TRUE(plot);
  ASSERT_EQ(plot->curves.size(), 3u);
  EXPECT_EQ(plot->curves[0].name, "ring");
  EXPECT_THAT(plot->curves[0].y, ElementsAre(100, 200, 300, 400, 500, 600));
  EXPECT_THAT(plot->curves[1].y, ElementsAre(110, 210, 310, 410, 510, 610));
  EXPECT_TRUE(plot->curves[2].dashed);
  EXPECT_THAT(plot->curves[2].y, ElementsAre(50, 50, 50, 50, 50, 50));
  EXPECT_EQ(plot->best->curve, 0u);
  EXPECT_EQ(plot->best->x, 0u);
  EXPECT_THAT(plot->y_title, HasSubstr("best values of all other fields"));
}

TEST(SweepPlot, ChoosesTheFieldWithMostNumbersAndOmitsIncompletePoints) {
  const Space all = space();
  auto some = outcomes(all);
  for (std::size_t i = 0; i < some.size(); i += 2) some[i].reset();
  some[1]->status = Outcome::Status::kRefused;
  const auto plot = plot_of(all, some, "t", {});
  ASSERT_TRUE(plot);
  EXPECT_EQ(plot->x_title, "strategy.bytes_per_pack");
  EXPECT_EQ(plot->curves[0].y[0], std::nullopt) << "refused at shards 2, not done at 1";
  EXPECT_EQ(plot->curves[0].y[1], 201);
}

TEST(SweepPlot, DrawsTheMedianOverTheSeedsInsteadOfTheBestSeed) {
  const Space all =
      *Space::of({*parse_axis("", "run.seed=1..7+1"), *parse_axis("", "strategy.shards=1,2"),
                  *parse_axis("", "strategy.launch_us=0,1,2")});
  std::vector<std::optional<Outcome>> outcomes;
  for (std::int64_t p = 0; p < all.size(); ++p) {
    const auto rows = all.rows(p);
    Outcome one;
    // The last seed is lucky.
    one.step = milliseconds(100 * (rows[2] + 1) + 10 * rows[1] + (rows[0] == 6 ? -50 : rows[0]));
    outcomes.emplace_back(one);
  }
  const auto plot = plot_of(all, outcomes, "t", {});
  ASSERT_TRUE(plot);
  EXPECT_EQ(plot->x_title, "strategy.launch_us") << "run.seed has more values";
  ASSERT_EQ(plot->curves.size(), 2u);
  // The median of -50, 0, 1, 2, 3, 4 and 5 is 2.
  EXPECT_THAT(plot->curves[0].y, ElementsAre(102, 202, 302));
  EXPECT_THAT(plot->curves[1].y, ElementsAre(112, 212, 312));
  EXPECT_THAT(plot->y_title, HasSubstr("median over the seeds"));
  EXPECT_THAT(plot->y_title, Not(HasSubstr("best values")));
  // A plot over the seeds shows each of them.
  const auto drawn = plot_of(all, outcomes, "t", {"run.seed", "strategy.shards", "step_time"});
  ASSERT_TRUE(drawn);
  EXPECT_THAT(drawn->curves[0].y, ElementsAre(100, 101, 102, 103, 104, 105, 50));
  // If only the seed varies, it is on the x axis.
  const Space seeds = *Space::of({*parse_axis("", "run.seed=1..7+1")});
  const auto only = plot_of(seeds, std::vector<std::optional<Outcome>>(7, Outcome()), "t", {});
  ASSERT_TRUE(only);
  EXPECT_EQ(only->x_title, "run.seed");
}

TEST(SweepPlot, FieldsCanBeNamedByTheTitleOfAnAxis) {
  Axis strategies =
      *read_points("strategy.algorithm,strategy.shards\nnccl,\nring,1\nring,2\n", "p.csv");
  const Axis sizes = *parse_axis("", "strategy.bytes_per_pack=1MiB,2MiB");
  const auto plotted = [&](const PlotOptions& options) {
    const Space all = *Space::of({strategies, sizes});
    std::vector<std::optional<Outcome>> outcomes(static_cast<std::size_t>(all.size()));
    for (std::int64_t p = 0; p < all.size(); ++p) outcomes[p].emplace().step = milliseconds(p + 1);
    return plot_of(all, outcomes, "t", options);
  };
  EXPECT_THAT(test::kinds_of(plotted({"strategy", "", "step_time"})),
              ElementsAre("unknown-name --x"));
  strategies.title = "strategy";
  auto plot = plotted({"strategy", "", "step_time"});
  ASSERT_TRUE(plot) << plot.error().message();
  EXPECT_THAT(plot->x, ElementsAre("nccl", "ring, shards=1", "ring, shards=2"));
  ASSERT_EQ(plot->curves.size(), 2u);
  EXPECT_THAT(plot->curves[0].y, ElementsAre(1, 3, 5));
  plot = plotted({"strategy.bytes_per_pack", "strategy", "step_time"});
  ASSERT_TRUE(plot);
  EXPECT_THAT(plot->curves[1].y, ElementsAre(3, 4));
  // By default, a curve is a strategy with its settings.
  plot = plotted({"strategy.bytes_per_pack", "", "step_time"});
  ASSERT_TRUE(plot);
  EXPECT_EQ(plot->curves[2].name, "ring, shards=2");
}

TEST(ShownValues, SizesHaveTheLargestUnitInWhichTheyAreWholeNumbers) {
  EXPECT_EQ(shown_value("strategy.bytes_per_pack", "26214400"), "25 MiB");
  EXPECT_EQ(shown_value("strategy.bytes_per_pack", "4000000"), "4 MB");
  EXPECT_EQ(shown_value("strategy.bytes_per_pack", "0"), "0");
  EXPECT_EQ(shown_value("strategy.bytes_per_pack", "-1024"), "-1024");
  EXPECT_EQ(shown_value("strategy.shards", "1048576"), "1048576");
  EXPECT_EQ(shown_value("strategy.shards", ""), "not set");
}

TEST(SweepPlot, ReportsWhatCannotBeDrawn) {
  const Space all = space();
  const auto why = [&](const PlotOptions& options) {
    return test::kinds_of(plot_of(all, outcomes(all), "t", options));
  };
  EXPECT_THAT(why({"strategy.algoritm", "", "step_time"}), ElementsAre("unknown-name --x"));
  EXPECT_THAT(why({"", "strategy.algoritm", "step_time"}), ElementsAre("unknown-name --by"));
  EXPECT_THAT(why({"strategy.algorithm", "strategy.algorithm", "step_time"}),
              ElementsAre("conflict --by"));
  EXPECT_THAT(why({"", "", "price"}), ElementsAre("unknown-name --cost"));
  EXPECT_THAT(test::kinds_of(plot_of(all, std::vector<std::optional<Outcome>>(24), "t", {})),
              ElementsAre("missing"));
}

TEST(SweepPlot, DrawsMeasuredTimesAsDots) {
  const Space all = space();
  auto plot = plot_of(all, outcomes(all), "t", {});
  ASSERT_TRUE(add_measured(*plot, "strategy.bytes_per_pack,ms\n0,7\n1048576,9.5\n", "m.csv"));
  EXPECT_TRUE(plot->curves.back().dots_alone);
  EXPECT_EQ(plot->curves.back().y[0], 7);
  EXPECT_EQ(plot->curves.back().y[1], 9.5);
  EXPECT_EQ(plot->curves.back().y[2], std::nullopt);
  using test::Mistake;
  EXPECT_THAT(add_measured(*plot, "strategy.bytes_per_pack,ms\n5,7\n", "m.csv"),
              test::FailsWith(
                  Mistake{ProblemCode::kUnknownName, "strategy.bytes_per_pack", 2, 1, "m.csv"}));
  EXPECT_THAT(
      add_measured(*plot, "size,ms\n5,7\n", "m.csv"),
      test::FailsWith(Mistake{ProblemCode::kMissing, "strategy.bytes_per_pack", 0, 0, "m.csv"}));
  EXPECT_THAT(add_measured(*plot, "strategy.bytes_per_pack,s\n5,7\n", "m.csv"),
              test::FailsWith(Mistake{ProblemCode::kMissing, "ms", 0, 0, "m.csv"}));
}

std::vector<double> attributes(const std::string& svg, const std::string& element,
                               const std::string& name) {
  const std::regex pattern("<" + element + "[^>]* " + name + "=\"([-0-9.]+)\"");
  std::vector<double> values;
  for (std::sregex_iterator it(svg.begin(), svg.end(), pattern), end; it != end; ++it)
    values.push_back(std::stod((*it)[1]));
  return values;
}

TEST(Plot, PlacesSizesLogarithmicallyWithZeroAtTheLeft) {
  Plot plot;
  plot.x = {"0", "1048576", "2097152", "16777216"};
  plot.bytes = true;
  plot.curves = {{"a", {4.0, 3.0, 2.0, 1.0}}};
  const std::string svg = to_svg(plot);
  const std::vector<double> x = attributes(svg, "circle", "cx"),
                            y = attributes(svg, "circle", "cy");
  ASSERT_EQ(x.size(), 4u);
  EXPECT_LT(x[0], x[1]);
  EXPECT_NEAR((x[3] - x[1]) / (x[2] - x[1]), 4, 0.01) << "16 is four doublings";
  EXPECT_NEAR(y[1] - y[0], y[2] - y[1], 0.11);
  EXPECT_LT(y[0], y[3]) << "larger values are higher";
  EXPECT_THAT(svg, HasSubstr(">1 MiB</text>"));
}

TEST(Plot, IsValidSvgForAnyTextsAndValues) {
  Plot plot;
  plot.title = "<&\"\x01>";
  plot.x = {"a", "", "b<"};
  plot.curves = {{"one & two", {1.0, std::nullopt, 1.0}},
                 {"bound", {0.5, 0.5, 0.5}, true},
                 {"measured", {1.1, 1.0, 0.9}, false, true}};
  plot.best = Plot::Mark{0, 2, "best"};
  const std::string svg = to_svg(plot);
  EXPECT_TRUE(svg.starts_with("<svg"));
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_THAT(svg, HasSubstr("&lt;&amp;&quot;\uFFFD&gt;"));
  EXPECT_THAT(svg, HasSubstr("stroke-dasharray"));
  EXPECT_THAT(svg, Not(HasSubstr("nan")));
  EXPECT_THAT(svg, Not(HasSubstr("inf")));
  Plot flat;
  flat.x = {"1"};
  flat.curves = {{"zero", {0.0}}};
  EXPECT_THAT(to_svg(flat), Not(HasSubstr("nan")));
}

TEST(Plot, ShowsSizesInBinaryUnits) {
  EXPECT_EQ(show_binary(65536), "64 KiB");
  EXPECT_EQ(show_binary(1572864), "1.5 MiB");
  EXPECT_EQ(show_binary(100), "100 B");
}

}  // namespace
}  // namespace tutti::core
