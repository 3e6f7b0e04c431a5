from django.contrib import admin
from django.contrib.auth.admin import UserAdmin

from webapp.accounts.models import User

admin.site.site_header = admin.site.site_title = "Driftline"
admin.site.index_title = "Operators"
admin.site.register(User, UserAdmin)
