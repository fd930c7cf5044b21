// What fits on A4 and on Letter between the style sheet's margins, in px.
export const printWidth = 684;
