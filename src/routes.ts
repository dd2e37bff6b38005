/** Every endpoint: the resources' lists, joined. */
import type { Call } from './access/call.ts';
import type { AnyEndpoint } from './http/endpoint.ts';
import { groupRoutes } from './groups/routes.ts';
import { instanceRoutes } from './instance/routes.ts';
import { issueRoutes } from './issues/routes.ts';
import { labelRoutes } from './labels/routes.ts';
import { closedBy } from './merge_requests/closed_by.ts';
import { milestoneRoutes } from './milestones/routes.ts';
import { namespaceRoutes } from './namespaces/routes.ts';
import { tokenRoutes } from './tokens/routes.ts';
import { userRoutes } from './users/routes.ts';
import { docsRoutes } from './web/docs_routes.ts';

export const endpoints: AnyEndpoint<Call>[] = [...instanceRoutes, ...namespaceRoutes, ...userRoutes, ...tokenRoutes, ...groupRoutes, ...labelRoutes, ...milestoneRoutes, ...issueRoutes, closedBy, ...docsRoutes(() => endpoints)];
