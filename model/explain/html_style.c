/* SPDX-License-Identifier: MIT */
/* The style sheet of a page. Blue (0, 114, 178) speaks for the answer and vermilion (213, 94, 0) against it (M. Okabe
 * and K. Ito, Color universal design, 2002): all eyes tell them apart. Strength is also the weight of a line below
 * the words, and its sign whether that line is dotted. */
#include "base.h"
#include "explain/html.h"

#include <math.h>

static const char sheet[] =
    ":root{color-scheme:light "
    "dark;--page:#fff;--ink:#1b1b1b;--soft:#575757;--rule:#d3d3cf;--box:#f7f7f4;--link:#0056a6}\n"
    "@media(prefers-color-scheme:dark){:root{--page:#161616;--ink:#ebebe8;--soft:#b4b4b0;--rule:#454542;"
    "--box:#1f1f1e;--link:#8cc5ff}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;padding:1.5rem 1.25rem 4rem;max-width:54rem;background:var(--page);color:var(--ink);"
    "font:1rem/1.55 system-ui,-apple-system,\"Segoe UI\",\"Noto Sans\",sans-serif;overflow-wrap:anywhere}\n"
    "h1,h2,h3,h4{line-height:1.25;margin:1.6em 0 .5em;font-weight:650;text-wrap:balance}\n"
    "h1{font-size:1.6rem;margin-top:.4em}h1+section>h2{border:0;margin-top:0;padding:0}h2{font-size:1.25rem;"
    "border-top:1px solid "
    "var(--rule);padding-top:1em}"
    "h3{font-size:1.05rem}h4{font-size:.95rem;margin:1.2em 0 .35em}\n"
    "p,ul,ol,table{margin:.6em 0}a{color:var(--link);text-underline-offset:.15em}\n"
    ".soft,caption,th,.gap,summary{color:var(--soft)}.soft{font-size:.9rem}\n"
    ".src,.answer{white-space:pre-wrap;unicode-bidi:plaintext;tab-size:4;background:var(--box);"
    "border:1px solid var(--rule);border-radius:.35rem;padding:.8rem 1rem;line-height:1.75;overflow-x:auto}\n"
    ".code{font:.875rem/1.7 ui-monospace,\"Cascadia Mono\",Menlo,Consolas,\"DejaVu Sans Mono\",monospace}\n"
    ".answer b{font-weight:inherit;border-bottom:3px double var(--ink)}\n"
    "mark{background:none;color:inherit;border-radius:.15em;text-decoration:underline 1px;"
    "text-decoration-skip-ink:none;text-underline-offset:.22em;-webkit-box-decoration-break:clone;"
    "box-decoration-break:clone;print-color-adjust:exact;-webkit-print-color-adjust:exact;scroll-margin:30vh "
    "0}\n"
    "mark.p0{text-decoration:none}"
    ".p4,.p5,.p6,.n4,.n5,.n6{text-decoration-thickness:2px}"
    ".p7,.p8,.p9,.p10,.n7,.n8,.n9,.n10{text-decoration-thickness:3px}"
    "mark[class^=n]{text-decoration-style:dotted}\n"
    "mark[data-r]::after{content:attr(data-r);content:attr(data-r)/\"\";vertical-align:super;font:700 "
    ".65em/1 system-ui,sans-serif;"
    "display:inline-block;padding:0 .12em 0 .2em}\n"
    "mark:target,mark:focus-visible,a:focus-visible,summary:focus-visible,.src:focus-visible{outline:3px "
    "solid var(--link);outline-offset:2px}\n"
    ".c{font-size:0;font-style:normal;unicode-bidi:isolate}"
    ".c::before{content:attr(data-c);font:.7rem/1 ui-monospace,monospace;border:1px solid;border-radius:.2em;"
    "padding:0 .15em;margin:0 .1em;direction:ltr;unicode-bidi:isolate}\n"
    "details,.gap{margin:.4em 0;border-left:3px solid "
    "var(--rule);padding-left:.7em}details.in{display:inline}"
    "summary{cursor:pointer;white-space:normal}summary::before,.gap::before{content:attr(data-t)}"
    ".gap,summary{font:.85rem/1.5 system-ui,sans-serif}\n"
    ".map{position:relative;height:.8rem;margin:0 0 .4rem;border:1px solid var(--rule);border-radius:.2rem;"
    "background:var(--box);overflow:hidden}.map "
    "a{position:absolute;top:0;bottom:0;min-width:4px;box-shadow:inset 0 0 0 1px var(--soft)}\n"
    ".wide{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    "caption{text-align:left;font-size:.9rem;padding-bottom:.3em}"
    "th{font-weight:600;font-size:.85rem;text-align:left}th,td{padding:.3em .9em .3em "
    "0;vertical-align:baseline;"
    "border-bottom:1px solid var(--rule)}th:last-child,td:last-child{padding-right:0}"
    ".r{text-align:right;white-space:nowrap}.at{overflow-wrap:normal}.what{min-width:14rem}"
    "tr:last-child td{border-bottom:0}.sum td,.sum th{border-top:1px solid var(--ink);font-weight:650}\n"
    ".legend{display:flex;flex-wrap:wrap;align-items:center;gap:.1rem .5rem;font-size:.85rem;margin:.5em 0}"
    ".legend span{display:flex}.legend i{width:.9rem;height:.9rem;display:block}\n"
    ".warn{border-left:4px solid #d55e00;padding:.1em 0 .1em .9em;list-style:none;margin-left:0}.warn "
    "li{margin:.3em 0}\n"
    "dl{display:grid;grid-template-columns:max-content 1fr;gap:.2em "
    "1em;font-size:.9rem}dt{color:var(--soft)}dd{margin:0}\n"
    "@media(max-width:34rem){body{padding:1rem .8rem 3rem}.src,.answer{padding:.6rem "
    ".7rem}dl{grid-template-columns:1fr}"
    "dd{margin:0 0 .4em}.best,.best tbody,.best thead,.best caption{display:block}"
    ".best tr{display:grid;grid-template-columns:2.4rem minmax(4rem,1fr) "
    "repeat(3,auto);font-size:.92rem;padding:.4em 0;"
    "border-bottom:1px solid var(--rule)}.best td,.best th{border:0;padding:.1em .5em .1em 0}"
    ".best .at{overflow-wrap:anywhere}.best tr>:last-child{grid-column:1/-1}}\n"
    "@media(forced-colors:active){mark{background:Mark;color:MarkText;forced-color-adjust:none}mark.p0{"
    "background:none;color:inherit}"
    ".map a{background:Highlight}.legend i{forced-color-adjust:none}}\n"
    "@media print{body{max-width:none}.src{border:0;padding:0}}\n";

/* WCAG 2: relative luminance of a colour. */
static double luminance(const double *c) {
    static const double parts[3] = {0.2126, 0.7152, 0.0722};
    double sum = 0;

    for (int i = 0; i < 3; i++) {
        double x = c[i] / 255;

        sum += parts[i] * (x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4));
    }
    return sum;
}

/* Grounds from the page's colour to the full one, and black or white on them, whichever is told apart more easily:
 * the worse of them is 4.58 to 1. */
static void put_shades(dsx__report *r, double page) {
    static const double full[2][3] = {{0, 114, 178}, {213, 94, 0}};

    for (int sign = 0; sign < 2; sign++)
        for (int k = 1; k <= DSX__SHADES; k++) {
            double c[3], l;

            for (int i = 0; i < 3; i++) c[i] = round(page + (full[sign][i] - page) * k / DSX__SHADES);
            l = luminance(c);
            dsx__put_format(r, ".%c%d{background:#%02x%02x%02x;color:#%s}", sign ? 'n' : 'p', k,
                            (unsigned)c[0], (unsigned)c[1], (unsigned)c[2],
                            1.05 / (l + 0.05) > (l + 0.05) / 0.05 ? "fff" : "000");
        }
    dsx__put(r, "\n", 1);
}

void dsx__html_style(dsx__report *r) {
    dsx__put_text(r, "<style>\n");
    dsx__put_text(r, sheet);
    put_shades(r, 255);
    dsx__put_text(r, "@media(prefers-color-scheme:dark){");
    put_shades(r, 22);
    dsx__put_text(r, "}\n</style>\n");
}
