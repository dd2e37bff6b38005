/** Every endpoint: the resources' lists, joined. */
import type { Call } from './access/call.ts';
import type { AnyEndpoint } from './http/endpoint.ts';
import { instanceRoutes } from './instance/routes.ts';

export const endpoints: AnyEndpoint<Call>[] = [...instanceRoutes];
