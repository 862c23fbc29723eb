// A library that is no module of Tutti.

extern "C" int nothing_of_tutti();
extern "C" int nothing_of_tutti() { return 0; }
