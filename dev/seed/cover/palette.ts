/** The colours of a family of covers: three stops of its sky from top to bottom, its light, and its lines. */
export interface Palette {
  sky: [string, string, string];
  light: string;
  line: string;
}

/** One palette per intention, so that an app's lists can be read by colour. */
export const PALETTES = {
  sleep: { sky: ['#0f1638', '#27306b', '#5d5a9c'], light: '#b9b4f2', line: '#e6e4ff' },
  focus: { sky: ['#0c2f38', '#17606a', '#57a39b'], light: '#b8ecdc', line: '#e9fbf5' },
  'stress-relief': { sky: ['#123a5c', '#2f7ba6', '#93cdd8'], light: '#d8f3f4', line: '#f3fdff' },
  meditation: { sky: ['#37163f', '#8a3f63', '#e59a78'], light: '#ffd9a8', line: '#fff1df' },
  energy: { sky: ['#6b2135', '#cf5a3c', '#f6b860'], light: '#ffe6a3', line: '#fff6e0' },
} satisfies Record<string, Palette>;

export type Intention = keyof typeof PALETTES;
