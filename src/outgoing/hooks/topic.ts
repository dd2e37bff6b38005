/** Topic that every change of hooks broadcasts. */
export const hooksTopic = 'hooks';
