import { readFileSync } from 'node:fs';
import postgres from 'postgres';
import { startDatabase } from './prepared.ts';

interface Row {
  title: string;
  tags?: string[];
  description?: string;
}

/** Sounds in ten languages, which the samples lack. */
const rows: Row[] = [
  { title: '海浪与雨声', tags: ['助眠', '大自然'], description: '适合安静的夜晚，慢慢放松。' },
  { title: '颂钵冥想 432赫兹', tags: ['冥想'] },
  { title: '静かな雨の音', tags: ['睡眠音楽'], description: '時々、遠くで雷が鳴ります。' },
  { title: '焚き火', tags: ['睡眠用BGM'] },
  { title: 'ヒーリング・ピアノ', tags: ['リラックス'] },
  { title: 'เสียงฝนตก', tags: ['นอนหลับ'] },
  { title: 'คลื่นทะเล', description: 'เสียงคลื่นเบาๆ สำหรับทำสมาธิ' },
  { title: 'ขันทิเบต ๔๓๒ Hz' },
  { title: 'أصوات المطر', tags: ['نوم عميق'] },
  { title: 'مُوسِيقَى هادئة ٤٣٢ هرتز', description: 'للاسترخاء، قبل النوم' },
  { title: 'صدای باران', tags: ['خواب آرام'] },
  { title: 'موسیقی آرامش‌بخش ۵۲۸ هرتز' },
  { title: 'کتاب صوتی شب' },
  { title: 'शांति ध्यान', tags: ['नींद'] },
  { title: 'ज़ोर की बारिश', description: 'रात भर बरसता पानी।' },
  { title: 'मंत्र ४३२ हर्ट्ज़' },
  { title: 'Шум дождя', tags: ['сон'] },
  { title: 'Звёздная ночь', description: 'Тихая музыка для ночного отдыха.' },
  { title: 'Лесные птицы' },
  { title: 'Frühlingsregen', tags: ['Einschlafen'] },
  { title: 'Vögel im Wald', description: 'Amseln und Meisen am frühen Morgen.' },
  { title: 'Straßenmusik in der Altstadt' },
  { title: 'Yağmur sesi', tags: ['uyku'] },
  { title: 'İç huzur', description: 'Derin nefes için sakin bir müzik.' },
  { title: 'Çılgın rüzgâr' },
  { title: 'Bruit d’été', tags: ['méditation'] },
  { title: "L'océan la nuit", description: 'Des vagues lentes pour s’endormir.' },
  { title: 'Cœur qui bat' },
];

/** Texts that users type, each with the titles that a search must return first. */
export const searches: Record<string, string[]> = {
  // Words in titles come before those in tags and descriptions.
  bowl: ['Bowl at Lights Out', 'Singing Bowl in C4', 'Large Singing Bowl in C3', 'Morning Bowl'],
  'deep bowl': ['Large Singing Bowl in C3', 'Bowl at Lights Out'],
  // Sounds with most of the words come first, if none has all.
  'nature sounds': ['Slow Ocean Waves', 'Steady Rain', 'Woodland Brook'],
  'sounds for sleep': ['Wind before Sleep', 'Brown Noise', 'Steady Rain'],
  'free rain sounds': ['Steady Rain'],
  'gentle rain for sleeping': ['Rain to Read By'],
  'crackling fire': ['Campfire'],
  'xylophone brook': ['Brook behind the Tent', 'Woodland Brook'],
  // Scripts without spaces.
  '雨声 海浪': ['海浪与雨声'],
  安静: ['海浪与雨声'],
  助眠雨声: ['海浪与雨声'],
  大自然的声音: ['海浪与雨声'],
  '432赫兹颂钵': ['颂钵冥想 432赫兹'],
  音楽: ['静かな雨の音'],
  BGM: ['焚き火'],
  '睡眠 BGM': ['焚き火'],
  ヒーリングピアノ: ['ヒーリング・ピアノ'],
  遠くの雷: ['静かな雨の音'],
  ฝนตก: ['เสียงฝนตก'],
  ทำสมาธิ: ['คลื่นทะเล'],
  'ขันทิเบต 432': ['ขันทิเบต ๔๓๒ Hz'],
  // Letters and digits that are written in several ways.
  'اصوات مطر': ['أصوات المطر'],
  نوم: ['أصوات المطر'],
  'موسيقي هادئه': ['مُوسِيقَى هادئة ٤٣٢ هرتز'],
  'صداي باران': ['صدای باران'],
  'موسيقى آرامش بخش': ['موسیقی آرامش‌بخش ۵۲۸ هرتز'],
  'موسیقی 528': ['موسیقی آرامش‌بخش ۵۲۸ هرتز'],
  كتاب: ['کتاب صوتی شب'],
  शान्ति: ['शांति ध्यान'],
  'जोर की बारिश': ['ज़ोर की बारिश'],
  'मन्त्र 432': ['मंत्र ४३२ हर्ट्ज़'],
  'पानी रात': ['ज़ोर की बारिश'],
  'звездная ночь': ['Звёздная ночь'],
  'шум дождя для сна': ['Шум дождя'],
  'лес птицы': ['Лесные птицы'],
  'voegel wald': ['Vögel im Wald'],
  strassenmusik: ['Straßenmusik in der Altstadt'],
  'yagmur sesi': ['Yağmur sesi'],
  'İÇ HUZUR MÜZİĞİ': ['İç huzur'],
  'cilgin ruzgar': ['Çılgın rüzgâr'],
  'bruits d ete': ['Bruit d’été'],
  'ocean nuit': ["L'océan la nuit"],
  'coeur battant': ['Cœur qui bat'],
};

/** Texts that a search corrects, because no sound has their words. Each has the title of the first result. */
export const corrected: Record<string, string> = {
  'relaxing rain': 'Rain to Read By',
  raim: 'Steady Rain',
  bowk: 'Singing Bowl in C4',
  'bwols singing': 'Singing Bowl in C4',
  slepe: 'Wind before Sleep',
  heartbaet: 'Heartbeat Frame Drum',
  campfrie: 'Campfire',
  medtation: 'Tanpura in C3',
  fruehling: 'Frühlingsregen',
  yagmru: 'Yağmur sesi',
  'шмум дожда': 'Шум дождя',
  موسيقا: 'مُوسِيقَى هادئة ٤٣٢ هرتز',
};

/** Makes a database with the samples and `rows`, in the state after the hourly upkeep. */
export async function startSearchedDatabase() {
  const { databaseUrl, stop } = await startDatabase();
  const sql = postgres(databaseUrl, { max: 1, onnotice() {} });
  await sql.unsafe(readFileSync(new URL('../../supabase/seed.sql', import.meta.url), 'utf8'));
  for (const [n, row] of rows.entries()) await sql`insert into public.sounds ${sql({ ...row, sort_order: 1000 + n })}`;
  await sql`select private.upkeep()`;
  const end = async () => {
    await sql.end();
    await stop();
  };
  return { sql, end };
}
