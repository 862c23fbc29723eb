#include "gui/trace/marks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/random.h"
#include "tests/support/problems.h"

namespace tutti::gui {
namespace {

using core::Time;
using test::FailsWith;
using test::Mistake;
using test::ProblemCode;

Mark mark(int from, int to, std::string text) { return {{Time(from), Time(to)}, std::move(text)}; }

TEST(Marks, WritingAndReadingPreserveThem) {
  core::Random random(3);
  for (int round = 0; round < 50; ++round) {
    Marks marks;
    for (std::uint64_t i = random.below(20); i > 0; --i) {
      const int from = static_cast<int>(random.below(1000));
      std::string text;
      for (std::uint64_t c = random.below(12); c > 0; --c)
        text += "ab\"\\\n\t#{}é漢"[random.below(9)];
      marks.add(
          mark(from, from + static_cast<int>(random.below(2) * random.below(50)), text + "é 漢"));
    }
    const auto again = Marks::read(marks.write(), "x.marks");
    ASSERT_TRUE(again) << again.error().message();
    EXPECT_EQ(again->all(), marks.all());
  }
}

TEST(Marks, AreVisitedInOrderOfTimeWithWraparound) {
  Marks marks;
  EXPECT_FALSE(marks.next(Time(5)));
  EXPECT_FALSE(marks.previous(Time(5)));
  marks.add(mark(30, 40, "c"));
  marks.add(mark(10, 10, "a"));
  EXPECT_EQ(marks.add(mark(20, 20, "b")), 1u);
  EXPECT_EQ(marks.next(Time(0)), 0u);
  EXPECT_EQ(marks.next(Time(10)), 1u);
  EXPECT_EQ(marks.next(Time(30)), 0u) << "around";
  EXPECT_EQ(marks.previous(Time(30)), 1u);
  EXPECT_EQ(marks.previous(Time(10)), 2u) << "around";
  marks.rename(1, "B");
  marks.remove(0);
  EXPECT_EQ(marks.all(), (std::vector{mark(20, 20, "B"), mark(30, 40, "c")}));
}

TEST(Marks, MarksOfTwoWindowsAreMerged) {
  const auto marks = [](const std::vector<std::string>& names) {
    Marks made;
    for (const std::string& name : names)
      made.add({{core::Time(name[0]), core::Time(name[0])}, name});
    return made;
  };
  const auto merged = [&](const std::vector<std::string>& mine,
                          const std::vector<std::string>& theirs) {
    std::vector<std::string> names;
    const Marks all = Marks::merged(marks({"a", "b"}), marks(mine), marks(theirs));
    for (const Mark& mark : all.all()) names.push_back(mark.text);
    return names;
  };
  using Names = std::vector<std::string>;
  EXPECT_EQ(merged({"a", "b", "c"}, {"a", "b", "d"}), (Names{"a", "b", "c", "d"}));
  EXPECT_EQ(merged({"a"}, {"a", "b", "d"}), (Names{"a", "d"})) << "b was removed here";
  EXPECT_EQ(merged({"a", "b", "c"}, {"b"}), (Names{"b", "c"})) << "a was removed there";
  EXPECT_EQ(merged({"a", "b", "c"}, {"a", "b", "c"}), (Names{"a", "b", "c"})) << "added in both";
}

TEST(Marks, ErrorsInFilesHaveAPositionAndAReason) {
  const auto read = [](const std::string& text) { return Marks::read(text, "x.marks"); };
  EXPECT_TRUE(read(""));
  EXPECT_THAT(read("mark { from_ps: -5 }"),
              FailsWith(Mistake{ProblemCode::kTooSmall, "Mark.from_ps", 1, 17, "x.marks"}));
  EXPECT_THAT(read("mark {\n from_ps: 9 to_ps: 4 }"),
              FailsWith(Mistake{ProblemCode::kConflict, "Mark.to_ps", 2, 20, "x.marks"}));
  EXPECT_THAT(read("mark { form_ps: 9 }"),
              FailsWith(Mistake{ProblemCode::kUnknownField, "Mark.form_ps", 1, 8, "x.marks"}));
  EXPECT_THAT(read("mark { from_ps: 9"),
              FailsWith(Mistake{ProblemCode::kSyntax, "", 1, 6, "x.marks"}));
  EXPECT_FALSE(read("\x7f\x45\x4c\x46\xff\xfe"));
}

}  // namespace
}  // namespace tutti::gui
