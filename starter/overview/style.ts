/**
 * The page's only style sheet. Contrasts are at least 4.5 to 1 in both colour schemes; a test reckons them. On a narrow screen
 * each row is a block, in which every cell says its column. It has none of the characters that HTML escapes.
 */
export const colours = {
  light: {
    text: '#1b1f24',
    quiet: '#57606a',
    paper: '#ffffff',
    band: '#f3f5f8',
    line: '#c8ced6',
    link: '#0550ae',
    bad: '#b31d28',
    warn: '#7a4b00',
  },
  dark: {
    text: '#e6e9ee',
    quiet: '#a4adb8',
    paper: '#12161c',
    band: '#1c222b',
    line: '#3b4552',
    link: '#7ab7ff',
    bad: '#ff8f8a',
    warn: '#f0b95a',
  },
} as const;

function variables(scheme: Readonly<Record<string, string>>): string {
  return Object.entries(scheme)
    .map(([name, colour]) => `--${name}:${colour};`)
    .join('');
}

export const style = `
:root{color-scheme:light dark;${variables(colours.light)}}
@media (prefers-color-scheme:dark){:root{${variables(colours.dark)}}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:84rem;padding:1rem;color:var(--text);background:var(--paper);font:1rem/1.45 system-ui,sans-serif}
h1{font-size:1.5rem;margin:0 0 .25rem}
h2{font-size:1.15rem;margin:2rem 0 .25rem}
p{margin:.25rem 0}
a{color:var(--link)}
a:focus-visible,button:focus-visible,input:focus-visible{outline:3px solid var(--link);outline-offset:2px}
nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1rem;list-style:none;margin:.5rem 0;padding:0}
nav a,.pages a{display:inline-block;padding:.25rem 0}
form{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center;margin:.5rem 0}
input,button{font:inherit;color:inherit;background:var(--band);border:1px solid var(--quiet);border-radius:.25rem;padding:.3rem .6rem;max-width:100%}
table{width:100%;border-collapse:collapse;margin:.5rem 0}
caption{text-align:left;color:var(--quiet);padding:.25rem 0}
th,td{text-align:left;vertical-align:top;padding:.4rem .6rem .4rem 0;border-bottom:1px solid var(--line);overflow-wrap:anywhere}
thead th{color:var(--quiet);font-weight:600;white-space:nowrap}
tbody th{font-weight:600;min-width:13rem}
code{font:.9em ui-monospace,monospace;background:var(--band);padding:.1rem .3rem;border-radius:.2rem;overflow-wrap:anywhere}
code span{display:inline-block;max-width:100%}
meter{width:6rem;height:.8rem;vertical-align:middle}
small{display:block;color:var(--quiet);font-size:.9em}
.quiet{color:var(--quiet)}
.bad{color:var(--bad);font-weight:600}
.warn{color:var(--warn);font-weight:600}
.ways{display:flex;flex-wrap:wrap;gap:.25rem .75rem}
time,.bad,.warn{white-space:nowrap}
.skip{position:absolute;left:-100vw}
.skip:focus{position:static}
p.bad,td small{white-space:normal}
@media (max-width:48rem){
table,tbody,tr,th,td,caption{display:block;width:auto}
thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
tr{border:1px solid var(--line);border-radius:.4rem;margin:.6rem 0;padding:.3rem .7rem}
th,td{border:0;padding:.2rem 0}
td:empty{display:none}
td::before{content:attr(data-column);display:block;color:var(--quiet);font-size:.8rem}
}
`;
