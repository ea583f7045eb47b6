import { between, type Random } from '../random.ts';
import { px, range } from './svg.ts';

/** Slanting strokes of rain over still water with a few rings. */
export function rain(random: Random): string {
  const drops = range(95).map(() => {
    const [x, y, length] = [between(random, -40, 860), between(random, -60, 560), between(random, 24, 95)];
    const line = `x1="${px(x)}" y1="${px(y)}" x2="${px(x - length * 0.22)}" y2="${px(y + length)}"`;
    return `<line ${line} opacity="${between(random, 0.12, 0.7).toFixed(2)}" stroke-width="${px(between(random, 1.5, 4))}"/>`;
  });
  const rings = range(7).map(() => {
    const [x, y, radius] = [between(random, 60, 740), between(random, 660, 770), between(random, 22, 64)];
    return [1, 0.55].map((part) => {
      const size = `rx="${px(radius * part)}" ry="${px(radius * part * 0.3)}"`;
      return `<ellipse cx="${px(x)}" cy="${px(y)}" ${size} fill="none" stroke-width="2.5" opacity="${px(0.35 + part * 0.3)}"/>`;
    });
  });
  return `<rect y="630" width="800" height="170" fill="currentColor" opacity="0.1"/>
    <g stroke="currentColor" stroke-linecap="round">${drops.join('')}${rings.flat().join('')}</g>`;
}

/** A line across the canvas that swings as a sine. */
function swell(y: number, height: number, length: number, phase: number): string {
  const points = range(41).map((step) => {
    const x = step * 20;
    return `${x} ${px(y + height * Math.sin((x / length) * 2 * Math.PI + phase))}`;
  });
  return `M${points.join(' L')}`;
}

/** A low sun over layers of swell. */
export function waves(random: Random): string {
  const sunX = between(random, 260, 540);
  const layers = range(6).map((layer) => {
    const height = between(random, 14, 26) + layer * 2;
    const line = swell(430 + layer * 64, height, between(random, 420, 760), between(random, 0, 6.28));
    return `<path d="${line} L800 800 L0 800 Z" fill="currentColor" opacity="${(0.1 + layer * 0.035).toFixed(2)}"/>
      <path d="${line}" fill="none" stroke="currentColor" stroke-width="2.5" opacity="${(0.25 + layer * 0.09).toFixed(2)}"/>`;
  });
  return `<circle cx="${px(sunX)}" cy="345" r="105" fill="url(#metal)"/>${layers.join('')}`;
}

/** Streams, of air or of water, that bundle and part. */
export function flow(random: Random): string {
  const phase = between(random, 0, 6.28);
  const lines = range(24).map((line) => {
    const spread = line / 23 - 0.5;
    const points = range(41).map((step) => {
      const x = step * 20;
      const bundle = 300 + 190 * Math.sin(x / 210 + phase);
      return `${x} ${px(400 + spread * bundle + 85 * Math.sin(x / 165 + phase * 1.7 + spread * 1.8))}`;
    });
    const opacity = 0.15 + 0.65 * (1 - 2 * Math.abs(spread)) * between(random, 0.5, 1);
    return `<path d="M${points.join(' L')}" opacity="${opacity.toFixed(2)}" stroke-width="${px(between(random, 1.5, 4))}"/>`;
  });
  return `<g fill="none" stroke="currentColor" stroke-linecap="round">${lines.join('')}</g>`;
}

/** A crescent moon, stars and two hills. */
export function night(random: Random): string {
  const stars = range(70).map(() => {
    const where = `cx="${px(between(random, 0, 800))}" cy="${px(between(random, 0, 560))}"`;
    return `<circle ${where} r="${px(between(random, 0.8, 3))}" opacity="${between(random, 0.25, 0.95).toFixed(2)}"/>`;
  });
  const hills = [600, 665].map((y, index) => {
    const line = swell(y, 34, between(random, 700, 1_100), between(random, 0, 6.28));
    return `<path d="${line} L800 800 L0 800 Z" fill="#000" opacity="${index === 0 ? 0.22 : 0.34}"/>`;
  });
  return `<g fill="currentColor">${stars.join('')}</g>
    <path d="M470 170 A150 150 0 1 0 585 385 A125 125 0 1 1 470 170 Z" fill="url(#metal)"/>${hills.join('')}`;
}

/** Flames over crossed logs, with sparks. */
export function fire(random: Random): string {
  const flames = [1, 0.74, 0.48].map((size, index) => {
    const [half, top] = [135 * size, 615 - 330 * size];
    const lean = between(random, -30, 30) * size;
    const right = `C${px(400 + half * 0.25 + lean)} ${px(top + 110 * size)} ${px(400 + half * 1.5)} ${px(470 + 40 * (1 - size))} 400 625`;
    const left = `C${px(400 - half * 1.5)} ${px(470 + 40 * (1 - size))} ${px(400 - half * 0.55 + lean)} ${px(top + 150 * size)} ${px(400 + lean)} ${px(top)}`;
    return `<path d="M${px(400 + lean)} ${px(top)} ${right} ${left} Z" fill="${['#e8834f', '#f6b25f', '#ffe9b8'][index]}" opacity="0.9"/>`;
  });
  const sparks = range(38).map(() => {
    const height = random();
    const x = 400 + between(random, -1, 1) * (60 + 170 * height);
    return `<circle cx="${px(x)}" cy="${px(460 - 400 * height)}" r="${px(between(random, 1.5, 4.5))}" opacity="${(0.95 - 0.75 * height).toFixed(2)}"/>`;
  });
  const logs = [-13, 13].map(
    (turn) => `<rect x="235" y="612" width="330" height="36" rx="18" transform="rotate(${turn} 400 630)"/>`,
  );
  return `<circle cx="400" cy="500" r="330" fill="url(#glow)"/><g fill="#ffd48a">${sparks.join('')}</g>
    ${flames.join('')}<g fill="#241733">${logs.join('')}</g>`;
}
