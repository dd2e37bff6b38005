import type { Static } from 'typebox';
import type { Call } from '../access/call.ts';
import { int, object, string } from '../http/schema.ts';

/** A merge request in a list: what names it. */
export const mergeRequestShape = object({ id: int, iid: int, project_id: int, title: string, state: string });

export type MergeRequestJson = Static<typeof mergeRequestShape>;

/** The merge requests of these ids that the caller may see, in this order: none, while the store holds none. */
export const mergeRequestsById = async (_call: Call, _ids: number[]): Promise<MergeRequestJson[]> => [];
