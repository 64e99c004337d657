a = '\xz1'                # CHECK: [[#@LINE]]:6: error: malformed \x escape
b = f'{1!z}'              # CHECK: [[#@LINE]]:10: error: unknown conversion, expected !r, !s or !a
c = f'1}'                 # CHECK: [[#@LINE]]:8: error: single '}' in an f-string
#                           CHECK: note: write }} for the character
d = f'{1'                 # CHECK: [[#@LINE]]:7: error: '{' is not closed in the f-string
#                           CHECK: note: write {{[{][{]}} for the character
e = f'{}'                 # CHECK: [[#@LINE]]:7: error: empty expression in an f-string
h = 'a' b'c'              # CHECK: [[#@LINE]]:5: error: bytes and text literals cannot be joined
i = 0777                  # CHECK: [[#@LINE]]:5: error: a decimal integer does not begin with 0
#                           CHECK: note: write 0o for octal
j = '\N{DASH}'            # CHECK: [[#@LINE]]:{{[0-9]+}}: warning: named characters are not supported; the escape is kept as written
k = 1 \ 
#                           CHECK: error: unexpected character after a line continuation
l = 1__0                  # CHECK: [[#@LINE]]:5: error: malformed number '1__0'
m = 0b12                  # CHECK: [[#@LINE]]:5: error: malformed number '0b12'
n = 12abc                 # CHECK: [[#@LINE]]:5: error: malformed number '12abc'
o = 'open                 # CHECK: [[#@LINE]]:5: error: string is not closed on this line
p = a $ b                 # CHECK: [[#@LINE]]:7: error: unexpected character '$'
print "a"                 # CHECK: [[#@LINE]]:7: error: unexpected string
#                           CHECK: note: a call needs parentheses
