// A library that is not a module of Tutti.

extern "C" int nothing_of_tutti();
extern "C" int nothing_of_tutti() { return 0; }
