import { gatewaySection } from './zz-short.ts';
console.log((await gatewaySection()));
