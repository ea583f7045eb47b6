import { between, type Random } from '../random.ts';
import { px, range } from './svg.ts';

/** A field of dots, large in the middle, as uneven as noise. */
export function noise(random: Random): string {
  const cells = range(21 * 21).map((cell) => {
    const [x, y] = [(cell % 21) * 36 + 40, Math.floor(cell / 21) * 36 + 40];
    const nearness = Math.max(0, 1 - Math.hypot(x - 400, y - 400) / 430);
    const radius = 1.2 + 12.5 * nearness * between(random, 0.25, 1);
    return `<circle cx="${x}" cy="${y}" r="${px(radius)}" opacity="${(0.18 + 0.65 * nearness).toFixed(2)}"/>`;
  });
  return `<g fill="currentColor">${cells.join('')}</g>`;
}

/** Petals round a centre: a breath that opens. */
export function breath(random: Random): string {
  const petals = 5 + Math.floor(random() * 5);
  const circles = [195, 130].flatMap((radius, ring) =>
    range(petals).map((petal) => {
      const angle = (2 * Math.PI * (petal + ring / 2)) / petals;
      const [x, y] = [400 + radius * 0.85 * Math.cos(angle), 400 + radius * 0.85 * Math.sin(angle)];
      return `<circle cx="${px(x)}" cy="${px(y)}" r="${radius * 0.8}" fill="currentColor" fill-opacity="0.07" stroke="currentColor" stroke-opacity="0.5" stroke-width="2"/>`;
    }),
  );
  return `${circles.join('')}<circle cx="400" cy="400" r="46" fill="url(#metal)"/>`;
}

/** Two sets of rings that interfere, as two tones do. */
export function tones(random: Random): string {
  const apart = between(random, 85, 130);
  const rings = [400 - apart, 400 + apart].flatMap((x) =>
    range(7).map(
      (ring) =>
        `<circle cx="${px(x)}" cy="400" r="${26 + ring * 43}" opacity="${(0.85 - ring * 0.1).toFixed(2)}"/>`,
    ),
  );
  return `<g fill="none" stroke="currentColor" stroke-width="4">${rings.join('')}</g>`;
}

/** Strokes round a centre, like the hours of a clock or the beats of a drum. */
export function pulse(random: Random): string {
  const beats = 48;
  const strokes = range(beats).map((beat) => {
    const strong = beat % 4 === 0;
    const reach = (strong ? 318 : 262) + between(random, -14, 14);
    return `<line x1="400" y1="${px(400 - (strong ? 168 : 190))}" x2="400" y2="${px(400 - reach)}" transform="rotate(${(beat * 360) / beats} 400 400)" opacity="${strong ? 0.95 : 0.5}" stroke-width="${strong ? 7 : 4}"/>`;
  });
  return `<g stroke="currentColor" stroke-linecap="round">${strokes.join('')}</g><circle cx="400" cy="400" r="118" fill="url(#metal)"/>`;
}
