#include <gmock/gmock.h>

#include <QApplication>
#include <QSettings>

#include "tests/support/program.h"

int main(int argc, char** argv) {
  testing::InitGoogleMock(&argc, argv);
  qputenv("QT_QPA_PLATFORM", "offscreen");
  tutti::test::TemporaryFolder settings;
  qputenv("TMPDIR",
          QByteArray::fromStdString(settings.path()));  // so that no user's settings are read
  QSettings::setPath(QSettings::NativeFormat, QSettings::UserScope,
                     QString::fromStdString(settings.path()));
  QApplication app(argc, argv);
  QApplication::setOrganizationName(QStringLiteral("tutti-tests"));
  QApplication::setApplicationName(QStringLiteral("window"));
  return RUN_ALL_TESTS();
}
