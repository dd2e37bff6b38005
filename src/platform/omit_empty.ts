/** Treats an empty parameter as absent. */
export const omitEmpty = (value: string | undefined): string | undefined =>
  value === '' ? undefined : value;
