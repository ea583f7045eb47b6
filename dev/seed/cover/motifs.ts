import { between, type Random } from '../random.ts';

/** Draws what a sound is made by: SVG elements on a canvas of 800 x 800, in `currentColor`. */
export type Motif = (random: Random) => string;

const range = (count: number): number[] => Array.from({ length: count }, (_, index) => index);
const px = (value: number): string => value.toFixed(1);

/** A bowl in profile; its tone spreads from the rim in rings. */
function bowl(random: Random): string {
  const width = between(random, 150, 185);
  const depth = width * 0.95;
  const [left, right, rim] = [400 - width, 400 + width, 470];
  const rings = range(7).map((ring) => {
    const radius = width * 0.5 + ring * 58;
    return `<ellipse cx="400" cy="${rim}" rx="${px(radius)}" ry="${px(radius * 0.8)}" opacity="${px(0.75 - ring * 0.1)}"/>`;
  });
  return `<clipPath id="above"><rect width="800" height="${rim}"/></clipPath>
    <g clip-path="url(#above)" fill="none" stroke="currentColor" stroke-width="3">${rings.join('')}</g>
    <path d="M${px(left)} ${rim} C${px(left + 6)} ${px(rim + depth)} ${px(right - 6)} ${px(rim + depth)} ${px(right)} ${rim} Z" fill="url(#metal)"/>
    <ellipse cx="400" cy="${rim}" rx="${px(width)}" ry="17" fill="currentColor" opacity="0.95"/>
    <ellipse cx="400" cy="${rim + 3}" rx="${px(width - 13)}" ry="11" fill="url(#sky)"/>
    <ellipse cx="400" cy="${px(rim + depth * 0.86)}" rx="${px(width * 0.75)}" ry="10" fill="#000" opacity="0.16"/>`;
}

/** Slanting strokes of rain over still water with a few rings. */
function rain(random: Random): string {
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
function waves(random: Random): string {
  const sunX = between(random, 260, 540);
  const layers = range(6).map((layer) => {
    const height = between(random, 14, 26) + layer * 2;
    const line = swell(430 + layer * 64, height, between(random, 420, 760), between(random, 0, 6.28));
    return `<path d="${line} L800 800 L0 800 Z" fill="currentColor" opacity="${(0.1 + layer * 0.035).toFixed(2)}"/>
      <path d="${line}" fill="none" stroke="currentColor" stroke-width="2.5" opacity="${(0.25 + layer * 0.09).toFixed(2)}"/>`;
  });
  return `<circle cx="${px(sunX)}" cy="345" r="105" fill="url(#metal)"/>${layers.join('')}`;
}

/** Streams of air that bundle and part. */
function wind(random: Random): string {
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
function night(random: Random): string {
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

/** A field of dots, large in the middle, as uneven as noise. */
function noise(random: Random): string {
  const cells = range(21 * 21).map((cell) => {
    const [x, y] = [(cell % 21) * 36 + 40, Math.floor(cell / 21) * 36 + 40];
    const nearness = Math.max(0, 1 - Math.hypot(x - 400, y - 400) / 430);
    const radius = 1.2 + 12.5 * nearness * between(random, 0.25, 1);
    return `<circle cx="${x}" cy="${y}" r="${px(radius)}" opacity="${(0.18 + 0.65 * nearness).toFixed(2)}"/>`;
  });
  return `<g fill="currentColor">${cells.join('')}</g>`;
}

/** Petals round a centre: a breath that opens. */
function breath(random: Random): string {
  const petals = 6 + 2 * Math.floor(random() * 3);
  const circles = [195, 130].flatMap((radius, ring) =>
    range(petals).map((petal) => {
      const angle = (2 * Math.PI * (petal + ring / 2)) / petals;
      const [x, y] = [400 + radius * 0.85 * Math.cos(angle), 400 + radius * 0.85 * Math.sin(angle)];
      return `<circle cx="${px(x)}" cy="${px(y)}" r="${radius * 0.8}" fill="currentColor" fill-opacity="0.07" stroke="currentColor" stroke-opacity="0.5" stroke-width="2"/>`;
    }),
  );
  return `${circles.join('')}<circle cx="400" cy="400" r="46" fill="url(#metal)"/>`;
}

/** Taut strings, each swinging in one more part than the last. */
function strings(random: Random): string {
  const count = 7;
  const paths = range(count).map((string) => {
    const x = 130 + (string * 540) / (count - 1);
    const swing = between(random, 22, 34);
    return [1, 0.6, 0.2, -0.2, -0.6, -1].map((part) => {
      const points = range(61).map((step) => {
        const along = step / 60;
        return `${px(x + part * swing * Math.sin(Math.PI * (string + 1) * along))} ${px(80 + 640 * along)}`;
      });
      return `<path d="M${points.join(' L')}" opacity="${(0.8 - 0.45 * Math.abs(Math.abs(part) - 0.6)).toFixed(2)}"/>`;
    });
  });
  const ends = [76, 716].map(
    (y) => `<rect x="90" y="${y}" width="620" height="8" rx="4" fill="currentColor" opacity="0.9"/>`,
  );
  return `<g fill="none" stroke="currentColor" stroke-width="1.8">${paths.flat().join('')}</g>${ends.join('')}`;
}

/** A hanging disc with hammered rings. */
function gong(random: Random): string {
  const rings = range(7).map((ring) => {
    const dash = `${px(between(random, 8, 40))} ${px(between(random, 5, 14))}`;
    return `<circle cx="400" cy="430" r="${62 + ring * 27}" stroke-dasharray="${dash}" opacity="${(0.65 - ring * 0.06).toFixed(2)}"/>`;
  });
  return `<path d="M275 0 L310 246 M525 0 L490 246" stroke="currentColor" stroke-width="4" opacity="0.7"/>
    <circle cx="400" cy="430" r="262" fill="#000" opacity="0.16"/>
    <circle cx="400" cy="422" r="255" fill="url(#metal)"/>
    <g fill="none" stroke="#3a1320" stroke-opacity="0.55" stroke-width="3">${rings.join('')}</g>
    <circle cx="400" cy="430" r="40" fill="#3a1320" opacity="0.25"/>`;
}

/** Tubes of falling length on threads. */
function chimes(random: Random): string {
  const tubes = range(7).map((tube) => {
    const x = 190 + tube * 70;
    const [top, length] = [210 + between(random, -8, 8), 400 - tube * 38];
    const tilt = px(between(random, -2.2, 2.2));
    return `<g transform="rotate(${tilt} ${x} 120)"><path d="M${x} 120 V${px(top)}" stroke="currentColor" stroke-width="2" opacity="0.7"/>
      <rect x="${x - 15}" y="${px(top)}" width="30" height="${length}" rx="13" fill="url(#metal)"/></g>`;
  });
  return `<rect x="130" y="104" width="540" height="18" rx="9" fill="currentColor" opacity="0.9"/>${tubes.join('')}`;
}

/** Two sets of rings that interfere, as two tones do. */
function tones(random: Random): string {
  const apart = between(random, 85, 130);
  const rings = [400 - apart, 400 + apart].flatMap((x) =>
    range(13).map(
      (ring) =>
        `<circle cx="${px(x)}" cy="400" r="${20 + ring * 24}" opacity="${(0.85 - ring * 0.055).toFixed(2)}"/>`,
    ),
  );
  return `<g fill="none" stroke="currentColor" stroke-width="3">${rings.join('')}</g>`;
}

/** Strokes round a centre, like the hours of a clock or the beats of a drum. */
function pulse(random: Random): string {
  const beats = 48;
  const strokes = range(beats).map((beat) => {
    const strong = beat % 4 === 0;
    const reach = (strong ? 318 : 262) + between(random, -14, 14);
    return `<line x1="400" y1="${px(400 - (strong ? 168 : 190))}" x2="400" y2="${px(400 - reach)}" transform="rotate(${(beat * 360) / beats} 400 400)" opacity="${strong ? 0.95 : 0.5}" stroke-width="${strong ? 7 : 4}"/>`;
  });
  return `<g stroke="currentColor" stroke-linecap="round">${strokes.join('')}</g><circle cx="400" cy="400" r="118" fill="url(#metal)"/>`;
}

export const MOTIFS = {
  bowl,
  rain,
  waves,
  wind,
  night,
  noise,
  breath,
  strings,
  gong,
  chimes,
  tones,
  pulse,
} satisfies Record<string, Motif>;

export type MotifName = keyof typeof MOTIFS;
