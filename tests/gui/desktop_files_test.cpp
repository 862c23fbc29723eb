// The files that tell a desktop about the window: its entry in the menu, its icon, and the kinds of
// files that it opens. They must agree with each other and with what the program accepts.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QFile>
#include <QIcon>
#include <QImage>
#include <QXmlStreamReader>
#include <map>
#include <set>
#include <string>

#include "gui/documents/file_kind.h"
#include "tests/support/clusters.h"

namespace tutti::gui {
namespace {

QString desktop_file(const char* name) {
  QFile file(QString::fromStdString(test::source_folder() + "/gui/desktop/" + name));
  EXPECT_TRUE(file.open(QIODevice::ReadOnly)) << name;
  return QString::fromUtf8(file.readAll());
}

std::map<QString, QString> entry() {
  std::map<QString, QString> values;
  for (const QString& line : desktop_file("tutti-view.desktop").split(QLatin1Char('\n'))) {
    const qsizetype at = line.indexOf(QLatin1Char('='));
    if (at > 0) values[line.left(at)] = line.mid(at + 1);
  }
  return values;
}

/// The patterns of file names of each kind of file that tutti.xml declares.
std::map<QString, QString> declared_kinds() {
  std::map<QString, QString> patterns;
  QString kind;
  QXmlStreamReader xml(desktop_file("tutti.xml"));
  while (!xml.atEnd()) {
    if (xml.readNext() != QXmlStreamReader::StartElement) continue;
    if (xml.name() == QLatin1String("mime-type"))
      kind = xml.attributes().value(QLatin1String("type")).toString();
    if (xml.name() == QLatin1String("glob"))
      patterns[kind] = xml.attributes().value(QLatin1String("pattern")).toString();
  }
  EXPECT_FALSE(xml.hasError()) << xml.errorString().toStdString();
  return patterns;
}

TEST(DesktopFiles, TheMenuOpensEveryDeclaredKindOfFile) {
  std::map<QString, QString> values = entry();
  std::set<QString> opened;
  for (const QString& kind : values[QStringLiteral("MimeType")].split(QLatin1Char(';')))
    if (!kind.isEmpty()) opened.insert(kind);
  std::set<QString> declared;
  for (const auto& [kind, pattern] : declared_kinds()) declared.insert(kind);
  EXPECT_EQ(opened, declared);
  // The program opens one document, or compares two timelines. A desktop passes all selected files
  // to %F, so %F would fail for three files; %f starts one window for each file.
  EXPECT_EQ(values[QStringLiteral("Exec")].toStdString(), "tutti-view %f");
}

TEST(DesktopFiles, DeclaredKindsAreThoseThatTheProgramRecognizes) {
  std::map<QString, QString> patterns = declared_kinds();
  const auto kind_of = [&](const char* mime) {
    QString name = patterns[QString::fromLatin1(mime)];
    EXPECT_TRUE(name.startsWith(QLatin1String("*."))) << mime;
    return *file_kind("/nowhere/a" + name.mid(1).toStdString());
  };
  EXPECT_EQ(kind_of("application/x-tutti-timeline"), FileKind::kTimeline);
  EXPECT_EQ(kind_of("application/x-tutti-sweep"), FileKind::kSweep);
  EXPECT_EQ(kind_of("application/x-tutti-scenario"), FileKind::kScenario);
}

TEST(DesktopFiles, TheMenuHasAnIcon) {
  const QString icon = entry()[QStringLiteral("Icon")];
  const QImage image = QIcon(QString::fromStdString(test::source_folder() + "/gui/desktop/" +
                                                    icon.toStdString() + ".svg"))
                           .pixmap(QSize(64, 64))
                           .toImage();
  ASSERT_FALSE(image.isNull());
  std::set<QRgb> colours;
  for (int y = 0; y < image.height(); ++y)
    for (int x = 0; x < image.width(); ++x) colours.insert(image.pixel(x, y));
  EXPECT_GT(colours.size(), 5u) << "a ring of four ranks on a ground";
}

}  // namespace
}  // namespace tutti::gui
