import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Measured } from '../project/measurements.ts';
import { ImportError } from '../shared/problems.ts';

/** File of an export that maps the names in its folder to those in Storage. */
export const manifestFile = 'export.json';

const Manifest = z.object({
  files: z.record(
    z.string(),
    z.object({
      bucket: z.enum(['audio', 'covers']),
      path: z.string(),
      type: z.string().optional(),
      /** SHA-256 in hex. A file with different content is treated as new. */
      checksum: z.string(),
      measured: z.custom<Measured>().optional(),
    }),
  ),
});

export type ExportedFile = z.infer<typeof Manifest>['files'][string];

/**
 * Reads the manifest of a folder. Returns its entries by file name, or none if the folder is not an export.
 * @throws ImportError if it is damaged
 */
export async function readManifest(folder: string): Promise<Map<string, ExportedFile>> {
  try {
    const text = await readFile(join(folder, manifestFile), 'utf8');
    return new Map(Object.entries(Manifest.parse(JSON.parse(text)).files));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
    throw new ImportError(`${manifestFile} is damaged or not readable. Export into the folder again, or remove it.`);
  }
}

/** Writes the manifest sorted by name, so that two exports of one catalogue are equal. */
export async function writeManifest(folder: string, files: Map<string, ExportedFile>): Promise<void> {
  const sorted = Object.fromEntries([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
  await writeFile(join(folder, manifestFile), `${JSON.stringify({ files: sorted }, null, 2)}\n`);
}
