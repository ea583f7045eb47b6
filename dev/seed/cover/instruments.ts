import { between, type Random } from '../random.ts';
import { px, range } from './svg.ts';

/** A bowl in profile; its tone spreads from the rim in rings. */
export function bowl(random: Random, size: number): string {
  const width = 170 * size;
  const depth = width * 0.95;
  const gap = between(random, 44, 66);
  const [left, right, rim] = [400 - width, 400 + width, 470];
  const rings = range(6 + Math.floor(random() * 3)).map((ring) => {
    const radius = width * 0.5 + ring * gap;
    return `<ellipse cx="400" cy="${rim}" rx="${px(radius)}" ry="${px(radius * 0.8)}" opacity="${(0.75 - ring * 0.09).toFixed(2)}"/>`;
  });
  return `<clipPath id="above"><rect width="800" height="${rim}"/></clipPath>
    <g clip-path="url(#above)" fill="none" stroke="currentColor" stroke-width="3">${rings.join('')}</g>
    <path d="M${px(left)} ${rim} C${px(left + 6)} ${px(rim + depth)} ${px(right - 6)} ${px(rim + depth)} ${px(right)} ${rim} Z" fill="url(#metal)"/>
    <ellipse cx="400" cy="${rim}" rx="${px(width)}" ry="17" fill="currentColor" opacity="0.95"/>
    <ellipse cx="400" cy="${rim + 3}" rx="${px(width - 13)}" ry="11" fill="url(#sky)"/>
    <ellipse cx="400" cy="${px(rim + depth * 0.86)}" rx="${px(width * 0.75)}" ry="10" fill="#000" opacity="0.16"/>`;
}

/** Taut strings, each swinging in one more part than the last. */
export function strings(random: Random): string {
  const count = 6;
  const paths = range(count).map((string) => {
    const x = 130 + (string * 540) / (count - 1);
    const swing = between(random, 22, 34);
    return [1, 0.4, -0.4, -1].map((part) => {
      const points = range(61).map((step) => {
        const along = step / 60;
        return `${px(x + part * swing * Math.sin(Math.PI * (string + 1) * along))} ${px(80 + 640 * along)}`;
      });
      return `<path d="M${points.join(' L')}" opacity="${(0.8 - 0.45 * (1 - Math.abs(part))).toFixed(2)}"/>`;
    });
  });
  const ends = [76, 716].map(
    (y) => `<rect x="90" y="${y}" width="620" height="8" rx="4" fill="currentColor" opacity="0.9"/>`,
  );
  return `<g fill="none" stroke="currentColor" stroke-width="2">${paths.flat().join('')}</g>${ends.join('')}`;
}

/** A hanging disc with hammered rings. */
export function gong(random: Random): string {
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
export function chimes(random: Random): string {
  const tubes = range(7).map((tube) => {
    const x = 190 + tube * 70;
    const [top, length] = [210 + between(random, -8, 8), 400 - tube * 38];
    const tilt = px(between(random, -2.2, 2.2));
    return `<g transform="rotate(${tilt} ${x} 120)"><path d="M${x} 120 V${px(top)}" stroke="currentColor" stroke-width="2" opacity="0.7"/>
      <rect x="${x - 15}" y="${px(top)}" width="30" height="${length}" rx="13" fill="url(#metal)"/></g>`;
  });
  return `<rect x="130" y="104" width="540" height="18" rx="9" fill="currentColor" opacity="0.9"/>${tubes.join('')}`;
}

/** A handpan from above: a ring of tone fields round a dome. */
export function handpan(random: Random): string {
  const start = between(random, 0, 360);
  const fields = range(8).map((field) => {
    const size = 66 - field * 2.5;
    const shape = `cx="400" cy="220" rx="${size}" ry="${px(size * 0.8)}"`;
    const dimple = `<ellipse cx="400" cy="220" rx="${px(size * 0.45)}" ry="${px(size * 0.36)}" opacity="0.6"/>`;
    return `<g transform="rotate(${px(start + field * 45)} 400 400)"><ellipse ${shape}/>${dimple}</g>`;
  });
  return `<circle cx="400" cy="412" r="292" fill="#000" opacity="0.16"/><circle cx="400" cy="400" r="285" fill="url(#metal)"/>
    <g fill="#3a1320" fill-opacity="0.12" stroke="#3a1320" stroke-opacity="0.4" stroke-width="3">${fields.join('')}
    <circle cx="400" cy="400" r="72"/><circle cx="400" cy="400" r="30"/></g>`;
}

/** A pair of small cymbals on a cord. */
export function cymbals(random: Random): string {
  const tilt = between(random, 10, 18);
  const discs = [
    { x: 265, turn: -tilt },
    { x: 535, turn: tilt },
  ].map(({ x, turn }) => {
    const rings = [112, 84, 56].map((radius) => `<circle cx="${x}" cy="470" r="${radius}"/>`);
    return `<circle cx="${x}" cy="482" r="146" fill="#000" opacity="0.16"/><circle cx="${x}" cy="470" r="140" fill="url(#metal)" transform="rotate(${px(turn)} ${x} 470)"/>
      <g fill="none" stroke="#3a1320" stroke-opacity="0.35" stroke-width="3">${rings.join('')}</g><circle cx="${x}" cy="470" r="20" fill="#3a1320" opacity="0.4"/>`;
  });
  return `<path d="M265 470 C285 90 515 90 535 470" fill="none" stroke="currentColor" stroke-width="6" opacity="0.85"/>${discs.join('')}`;
}
