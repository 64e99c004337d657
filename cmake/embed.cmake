# cmake -DIN=… -DOUT=… -DNAME=… -P embed.cmake: writes the file IN to OUT as a C string literal with the name NAME.
file(READ "${IN}" text)
string(REPLACE "\\" "\\\\" text "${text}")
string(REPLACE "\"" "\\\"" text "${text}")
string(REPLACE "\n" "\\n\"\n\"" text "${text}")
file(WRITE "${OUT}" "static const char ${NAME}[] =\n\"${text}\";\n")
