import { z } from 'zod';

export const SubCategory = z
  .object({
    id: z.string().meta({ examples: ['b1c7a1f4-2f0a-4c55-8a0e-0f8f6f3f5d11'] }),
    name: z.string().meta({ examples: ['Singing bowls'] }),
    slug: z.string().meta({ examples: ['singing-bowls'] }),
    description: z.nullable(z.string()).meta({ examples: ['Bowls of metal and crystal.'] }),
    sort_order: z.int().meta({ examples: [10] }),
  })
  .meta({ id: 'SubCategory', description: 'A sub-intention.' });

export const Category = SubCategory.extend({ children: z.array(SubCategory) }).meta({
  id: 'Category',
  description: 'An intention with its sub-intentions, all in display order.',
});
