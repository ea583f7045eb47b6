import { readFileSync } from 'node:fs';
import type { ChartConfiguration } from 'chart.js';
import type { Day, Figures } from './figures.ts';

/** Colors with enough contrast on light and dark backgrounds. */
const colors = { plays: '#3987d4', listeners: '#2f9e77', accounts: '#a66fd0', guests: '#c9a227', deleted: '#d9694a' };

interface Column {
  name: string;
  color: string;
  of: (day: Day) => number;
}

interface Section {
  title: string;
  note: string;
  chart: ChartConfiguration;
  table: (string | number)[][];
}

/** Returns a chart by day, and its figures as a table. */
function byDay(title: string, note: string, type: 'bar' | 'line', days: Day[], columns: Column[]): Section {
  const chart: ChartConfiguration = {
    type,
    data: {
      labels: days.map(({ day }) => day),
      datasets: columns.map(({ name, color, of }) => ({
        label: name,
        data: days.map(of),
        backgroundColor: color,
        borderColor: color,
        ...(type === 'line' && { pointRadius: 2 }),
      })),
    },
    options: {
      maintainAspectRatio: false,
      interaction: { mode: 'index', intersect: false },
      plugins: { legend: { display: columns.length > 1 } },
      scales: { x: { grid: { display: false } }, y: { beginAtZero: true, ticks: { precision: 0 } } },
    },
  };
  const rows = days.map((day) => [day.day, ...columns.map(({ of }) => of(day))]);
  return { title, note, chart, table: [['Day', ...columns.map(({ name }) => name)], ...rows.toReversed()] };
}

function topSounds({ topSounds: sounds }: Figures): Section {
  return {
    title: 'Top sounds',
    note: 'Sounds with the most listeners on these days. An account counts as one listener, however often it plays.',
    chart: {
      type: 'bar',
      data: {
        labels: sounds.map(({ title }) => (title.length > 32 ? `${title.slice(0, 31)}…` : title)),
        datasets: [
          { label: 'Listeners', data: sounds.map(({ listeners }) => listeners), backgroundColor: colors.listeners },
        ],
      },
      options: {
        indexAxis: 'y',
        maintainAspectRatio: false,
        plugins: { legend: { display: false } },
        scales: { x: { beginAtZero: true, ticks: { precision: 0 } }, y: { ticks: { autoSkip: false } } },
      },
    },
    table: [
      ['Sound', 'Listeners', 'Days', 'Plays'],
      ...sounds.map(({ title, listeners, days_played, plays }) => [title, listeners, days_played, plays]),
    ],
  };
}

const sections = (figures: Figures): Section[] => [
  byDay('Plays', 'Plays without a network count for the day on which they were made.', 'bar', figures.days, [
    { name: 'Plays', color: colors.plays, of: ({ plays }) => plays },
  ]),
  byDay('Listeners', 'Accounts that played something, and that used the app.', 'line', figures.days, [
    { name: 'Listeners', color: colors.listeners, of: ({ listeners }) => listeners },
    { name: 'Active accounts', color: colors.accounts, of: ({ active }) => active },
  ]),
  byDay('Sign-ups', 'New accounts, new guests, and accounts that were deleted.', 'bar', figures.days, [
    { name: 'Sign-ups', color: colors.accounts, of: ({ sign_ups }) => sign_ups },
    { name: 'New guests', color: colors.guests, of: ({ guests }) => guests },
    { name: 'Deleted', color: colors.deleted, of: ({ deleted }) => deleted },
  ]),
  topSounds(figures),
];

const escaped = (value: string | number) =>
  typeof value === 'number'
    ? value.toLocaleString('en')
    : value.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);

function sectionHtml({ title, note, table: [head = [], ...rows] }: Section, index: number): string {
  const cells = (tag: string, row: (string | number)[]) =>
    `<tr>${row.map((value) => `<${tag}>${escaped(value)}</${tag}>`).join('')}</tr>`;
  const chart =
    rows.length > 0
      ? `<div class="chart" style="height: ${title === 'Top sounds' ? 60 + 26 * rows.length : 260}px"><canvas id="chart-${index}" role="img" aria-label="${title}; the figures are in the table below"></canvas></div>
<details><summary>Figures</summary><table><thead>${cells('th', head)}</thead><tbody>${rows.map((row) => cells('td', row)).join('')}</tbody></table></details>`
      : '<p>Nothing was played.</p>';
  return `<section><h2>${title}</h2><p>${note}</p>\n${chart}</section>`;
}

const style = `
:root { color-scheme: light dark; --ink: #1d2733; --faint: #5b6775; --line: #dfe4ea; --page: #f4f6f8; --card: #fff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e4e9ef; --faint: #9aa7b5; --line: #2c3743; --page: #12181f; --card: #1a222b; } }
body { margin: 0 auto; padding: 2rem 1rem; max-width: 60rem; background: var(--page); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
h1, h2, p { margin: 0; } h2 { font-size: 1.15rem; } p, summary, dt { color: var(--faint); font-size: .9rem; }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: 1rem; margin: 1.5rem 0; }
dl div, section { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: 1rem; }
dd { margin: 0; font-size: 1.6rem; font-weight: 600; } section { margin-bottom: 1rem; } .chart { margin: 1rem 0; position: relative; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; } th, td { padding: .2rem 1.5rem .2rem 0; text-align: right; } th:first-child, td:first-child { text-align: left; }`;

/** Draws the charts again when the color scheme changes, because charts read their colors once. */
const script = `
const sections = JSON.parse(document.getElementById('charts').textContent);
let charts = [];
function draw() {
  const color = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);
  Object.assign(Chart.defaults, { color: color('--faint'), borderColor: color('--line'), animation: false });
  for (const chart of charts) chart.destroy();
  charts = sections.flatMap((section, index) => {
    const canvas = document.getElementById('chart-' + index);
    return canvas ? [new Chart(canvas, section)] : [];
  });
}
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
draw();`;

/** Returns the source of Chart.js, so that the page loads nothing. */
const chartJs = () => readFileSync(new URL('chart.umd.min.js', import.meta.resolve('chart.js')), 'utf8');

/** Rounds to a whole number, or to two digits below 10, so that a small average is not 0. */
const rounded = (value: number) => (value < 10 ? Number(value.toPrecision(2)) : Math.round(value));

/**
 * Returns a page with the figures as charts and tables. It needs no network.
 * @param madeAt time shown on the page
 */
export function reportPage(figures: Figures, madeAt: Date): string {
  const { days } = figures;
  const total = (of: (day: Day) => number) => days.reduce((sum, day) => sum + of(day), 0);
  const tiles: [name: string, value: number][] = [
    ['Plays', total(({ plays }) => plays)],
    ['Listeners on an average day', rounded(total(({ listeners }) => listeners) / days.length)],
    ['Sign-ups', total(({ sign_ups }) => sign_ups)],
    ['New guests', total(({ guests }) => guests)],
    ['Deleted accounts', total(({ deleted }) => deleted)],
  ];
  const all = sections(figures);
  const charts = JSON.stringify(all.map(({ chart }) => chart)).replaceAll('<', '\\u003c');
  const [first, last] = [days[0]?.day, days.at(-1)?.day];
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'">
<title>Sounds Service, ${first} to ${last}</title>
<style>${style}</style>
<h1>Sounds Service</h1>
<p>${first} to ${last}. Days are in UTC. Made on ${madeAt.toISOString().slice(0, 16).replace('T', ' at ')} UTC.</p>
<dl>${tiles.map(([name, value]) => `<div><dt>${name}</dt><dd>${escaped(value)}</dd></div>`).join('')}</dl>
${all.map(sectionHtml).join('\n')}
<script type="application/json" id="charts">${charts}</script>
<script>${chartJs()}</script>
<script>${script}</script>
</html>
`;
}
