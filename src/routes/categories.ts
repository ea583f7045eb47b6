import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

const SubCategory = z.object({
  id: z.string(),
  name: z.string(),
  slug: z.string(),
  description: z.string().nullable(),
  sort_order: z.int(),
});
const Category = SubCategory.extend({ children: z.array(SubCategory) });

export const categoryEndpoints = [
  endpoint({
    method: 'get',
    path: '/categories',
    operation: 'listCategories',
    summary: 'Category tree',
    guard: 'optional',
    response: z.object({ data: z.array(Category) }),
    errors: ['unauthorized', 'rate_limited'],
    cache: 'revalidate',
    shared: true,
    handle: async ({ context, caller, deadline }) => ({
      data: (await context.supabase.callFunction(caller, 'list_categories', deadline)) as z.input<
        typeof Category
      >[],
    }),
  }),
];
