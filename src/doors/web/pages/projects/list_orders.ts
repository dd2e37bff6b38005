/** The orders of lists of projects. */
import { oneOf } from '../../../../platform/http/schema.ts';

const orders = {
  activity_desc: ['last_activity_at', 'desc', 'Last activity'],
  created_desc: ['created_at', 'desc', 'Newest'],
  created_asc: ['created_at', 'asc', 'Oldest'],
  name_asc: ['name', 'asc', 'Name'],
  stars_desc: ['star_count', 'desc', 'Most stars'],
} as const;

export type Order = keyof typeof orders;

/** Labels by value of the parameter. */
export const orderNames = Object.fromEntries(
  Object.entries(orders).map(([order, [, , name]]) => [order, name]),
);

export const orderParam = oneOf(Object.keys(orders) as Order[], { default: 'activity_desc' });

/** Returns the parameters of the API for an order. */
export const readOrder = (order: Order) => {
  const [order_by, sort] = orders[order];
  return { order_by, sort };
};
