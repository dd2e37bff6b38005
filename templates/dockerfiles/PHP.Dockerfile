FROM php:8.4-apache

COPY . /var/www/html/
EXPOSE 80
