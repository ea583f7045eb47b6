import { z } from 'zod';
import { endpoint } from '../endpoint.ts';

export const SubCategory = z
  .object({
    id: z.string().meta({ examples: ['b1c7a1f4-2f0a-4c55-8a0e-0f8f6f3f5d11'] }),
    name: z.string().meta({ examples: ['Singing bowls'] }),
    slug: z.string().meta({ examples: ['singing-bowls'] }),
    description: z
      .string()
      .nullable()
      .meta({ examples: ['Bowls of metal and crystal.'] }),
    sort_order: z.int().meta({ examples: [10] }),
  })
  .meta({ id: 'SubCategory', description: 'A sub-intention.' });

const Category = SubCategory.extend({ children: z.array(SubCategory) }).meta({
  id: 'Category',
  description: 'An intention with its sub-intentions, all in display order.',
});
type Category = z.infer<typeof Category>;

export const categoryEndpoints = [
  endpoint({
    method: 'get',
    path: '/categories',
    operation: 'listCategories',
    summary: 'Category tree',
    description:
      'Active categories in display order, each with its children. No token is needed, but one that is ' +
      'sent must be valid.',
    guard: 'optional',
    response: z.object({ data: z.array(Category) }).meta({ id: 'CategoryListResponse' }),
    errors: ['unauthorized', 'rate_limited'],
    cache: 'revalidate',
    shared: true,
    handle: async ({ context, caller }) => ({
      data: (await context.data.service.call(caller, 'list_categories')) as Category[],
    }),
  }),
];
