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
  { title: 'Lo-fi beats', tags: ['study'] },
  { title: 'Thunder Storm over Hills' },
  { title: 'Rainforest at Night', description: 'Owls and tree frogs.' },
  { title: 'Snowfall' },
  { title: 'صوت البحر' },
  { title: 'นํ้าตก' },
  { title: 'Quiet  Hearth' },
];

interface Expected {
  /** Titles of the first results. */
  first?: string[];
  /** Titles that must not be found. An asterisk stands for all. */
  never?: string[];
  /** Text with corrected words. */
  corrected?: string;
}

/** Texts that users type, each with what the service and the copy of the client find. */
export const searches: Record<string, Expected> = {
  // Words in titles come before those in tags and descriptions.
  bowl: { first: ['Bowl at Lights Out', 'Singing Bowl in C4', 'Large Singing Bowl in C3', 'Morning Bowl'] },
  'deep bowl': { first: ['Large Singing Bowl in C3', 'Bowl at Lights Out'] },
  // Sounds with most of the words come first, if none has all.
  'nature sounds': { first: ['Slow Ocean Waves', 'Steady Rain', 'Woodland Brook'] },
  'sounds for sleep': { first: ['Wind before Sleep', 'Brown Noise', 'Steady Rain'] },
  'free rain sounds': { first: ['Steady Rain'] },
  'gentle rain for sleeping': { first: ['Rain to Read By'] },
  'crackling fire': { first: ['Campfire'] },
  'xylophone brook': { first: ['Brook behind the Tent', 'Woodland Brook'] },
  // Scripts without spaces.
  '雨声 海浪': { first: ['海浪与雨声'] },
  安静: { first: ['海浪与雨声'] },
  助眠雨声: { first: ['海浪与雨声'] },
  大自然的声音: { first: ['海浪与雨声'] },
  '432赫兹颂钵': { first: ['颂钵冥想 432赫兹'] },
  音楽: { first: ['静かな雨の音'] },
  BGM: { first: ['焚き火'] },
  '睡眠 BGM': { first: ['焚き火'] },
  ヒーリングピアノ: { first: ['ヒーリング・ピアノ'] },
  遠くの雷: { first: ['静かな雨の音'] },
  ฝนตก: { first: ['เสียงฝนตก'] },
  ทำสมาธิ: { first: ['คลื่นทะเล'] },
  'ขันทิเบต 432': { first: ['ขันทิเบต ๔๓๒ Hz'] },
  // Letters and digits that are written in several ways.
  'اصوات مطر': { first: ['أصوات المطر'] },
  نوم: { first: ['أصوات المطر'] },
  'موسيقي هادئه': { first: ['مُوسِيقَى هادئة ٤٣٢ هرتز'] },
  'صداي باران': { first: ['صدای باران'] },
  'موسيقى آرامش بخش': { first: ['موسیقی آرامش‌بخش ۵۲۸ هرتز'] },
  'موسیقی 528': { first: ['موسیقی آرامش‌بخش ۵۲۸ هرتز'] },
  كتاب: { first: ['کتاب صوتی شب'] },
  शान्ति: { first: ['शांति ध्यान'] },
  'जोर की बारिश': { first: ['ज़ोर की बारिश'] },
  'मन्त्र 432': { first: ['मंत्र ४३२ हर्ट्ज़'] },
  'पानी रात': { first: ['ज़ोर की बारिश'] },
  'звездная ночь': { first: ['Звёздная ночь'] },
  'шум дождя для сна': { first: ['Шум дождя'] },
  'лес птицы': { first: ['Лесные птицы'] },
  'voegel wald': { first: ['Vögel im Wald'] },
  strassenmusik: { first: ['Straßenmusik in der Altstadt'] },
  'yagmur sesi': { first: ['Yağmur sesi'] },
  'İÇ HUZUR MÜZİĞİ': { first: ['İç huzur'] },
  'cilgin ruzgar': { first: ['Çılgın rüzgâr'] },
  'bruits d ete': { first: ['Bruit d’été'], corrected: 'bruit d ete' },
  'ocean nuit': { first: ["L'océan la nuit"] },
  'coeur battant': { first: ['Cœur qui bat'] },
  'relaxing rain': { first: ['Steady Rain'] },
  raim: { first: ['Rain to Read By'], corrected: 'rain' },
  bowk: { first: ['Bowl at Lights Out'], corrected: 'bowl' },
  'bwols singing': { first: ['Singing Bowl in C4'], corrected: 'bowls singing' },
  slepe: { first: ['Wind before Sleep'], corrected: 'sleep' },
  heartbaet: { first: ['Heartbeat Frame Drum'], corrected: 'heartbeat' },
  campfrie: { first: ['Campfire'], corrected: 'campfire' },
  medtation: { first: ['Tanpura in C3'], corrected: 'meditation' },
  fruehling: { first: ['Frühlingsregen'] },
  yagmru: { first: ['Yağmur sesi'], corrected: 'yagmur' },
  'шмум дожда': { first: ['Шум дождя'], corrected: 'шмум дождя' },
  موسيقا: { first: ['موسیقی آرامش‌بخش ۵۲۸ هرتز'], corrected: 'موسيقي' },
  // Unknown words find nothing instead of something wrong.
  snow: { first: ['Snowfall'], never: ['Slow Ocean Waves'] },
  yoga: { never: ['*'] },
  brain: { never: ['*'] },
  'yoga rain': { first: ['Steady Rain', 'Rain to Read By'] },
  'waves of the sea': { never: ['Campfire'] },
  'xylophone trumpet banjo rain': { first: ['Steady Rain'] },
  // If words are left out, short ones decide only the order.
  'bowl for the morning': { first: ['Morning Bowl'] },
  'sounds of the ocean': { first: ['Slow Ocean Waves', "L'océan la nuit"] },
  'rain at night': { first: ['Steady Rain'] },
  'xylophone for trumpets': { never: ['*'] },
  '431 hz': { never: ['*'] },
  // The rarest word decides if no sound has all, also beside a number.
  '432 snowfall': { first: ['Snowfall'], never: ['颂钵冥想 432赫兹'] },
  // Whole words come before beginnings, and text inside of words is last.
  rain: { first: ['Rain to Read By', 'Steady Rain', 'Rainforest at Night'] },
  night: { first: ['Rainforest at Night'] },
  owl: { first: ['Rainforest at Night'], never: ['Singing Bowl in C4'] },
  forest: { first: ['Wind in the Pines', 'Rainforest at Night'] },
  'rai night': { first: ['Rainforest at Night'] },
  // Joined, hyphenated and separate spellings of a word are equal.
  lofi: { first: ['Lo-fi beats'] },
  'lo fi': { first: ['Lo-fi beats'] },
  'lo-fi': { first: ['Lo-fi beats'] },
  thunderstorm: { first: ['Thunder Storm over Hills'] },
  'thunder-storm': { first: ['Thunder Storm over Hills'] },
  'snow fall': { first: ['Snowfall'] },
  'camp fire': { first: ['Campfire'] },
  // Corrections keep the beginning of a word.
  thunedr: { first: ['Thunder Storm over Hills'], corrected: 'thunder' },
  'Rainforets at night': { first: ['Rainforest at Night'], corrected: 'rainforest at night' },
  wnid: { first: ['Wind before Sleep'], corrected: 'wind' },
  // A correction changes only the misspelt word. Other spaces are none.
  'lo-fi-baets': { first: ['Lo-fi beats'], corrected: 'lo-fi-beats' },
  'inging  bowl': { first: ['Singing Bowl in C4'] },
  'uiet he': { first: ['Quiet  Hearth'] },
  '4321': { never: ['*'] },
  // The Arabic article, and the order of Thai marks.
  بحر: { first: ['صوت البحر'] },
  'الصوت البحر': { first: ['صوت البحر'] },
  น้ำตก: { first: ['นํ้าตก'] },
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
