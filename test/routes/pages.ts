import type { Api } from '../support/api.ts';

interface Item {
  id: string;
  title: string;
  created_at: string;
  [field: string]: unknown;
}
export interface Page {
  data: Item[];
  next_cursor: string | null;
}

export async function readPage(app: Api, query: object): Promise<Page> {
  return (await app.get('/sounds').query(query).expect(200)).body;
}

export const idsOf = ({ data }: Page) => data.map(({ id }) => id);
