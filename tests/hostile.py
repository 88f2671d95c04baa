"""Texts of others that no face may run, load, obey or be broken by: pages, terminal, prompt."""

from __future__ import annotations

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "'><svg onload=alert(1)>",
    "<svg><script href='data:,alert(1)'/></svg>",
    "[x](javascript:alert(1)) [y](data:text/html,<script>1</script>) [z](vbscript:1)",
    "![](http://evil.example/track.png) <img src=http://evil.example/x>",
    "[x]( javascript&colon;alert(1)) <a href='java\nscript:1'>",
    "</textarea></pre></template><iframe srcdoc='<script>1</script>'>",
    "{{ 7 * 7 }} {% include '/etc/passwd' %}",
    "<style>*{display:none}</style><base href=//evil.example>",
    "\x1b]8;;http://evil.example\x07click\x1b]8;;\x07 \x1b[2J\x1b[8mhidden",
    "\u202egnp.exe \u2066\u2067 \u200b\ufeff\U000e0041",
    "\ud800 half a character \x00 nul",
    "<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "| a | b |\n|--|--|\n| <b onclick=x>1 | 2 |\n\n# <h1 id=main>",
    "--!> <!-- ]]> <![CDATA[ &lt;script&gt; &#x3C;script&#x3E;",
    "\x1b]0;title\x07\x1b]52;c;ZXZpbA==\x07\x1b[6n\x1b[?1049h\x1bP+q544e\x1b\\\x9b31m",
    "--- a/<b>x\n+++ b/../../etc/passwd\n@@ -1 +1 @@\n-<script>1</script>\n+<img src=x onerror=1>",
    "cell\rhidden\x08\x08\x0b\x0c\x7f \u2028line\u2029 \u0301\u0301\u0301 \u3164 e\u200d\ufe0f",
    "$(touch ran) `touch ran`; touch ran & \n touch ran \\ '\"",
    "x" * 1_000_000,
    "`" * 3_000 + "[" * 3_000 + "*" * 3_000 + ">" * 500,
)
