# cmake -DIN=… -DOUT=… -DNAME=… -P embed.cmake: a file as a C string literal with a name.
file(READ "${IN}" text)
string(REPLACE "\\" "\\\\" text "${text}")
string(REPLACE "\"" "\\\"" text "${text}")
string(REPLACE "\n" "\\n\"\n\"" text "${text}")
file(WRITE "${OUT}" "static const char ${NAME}[] =\n\"${text}\";\n")
